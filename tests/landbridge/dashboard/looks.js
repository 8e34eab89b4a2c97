// What a page looks like, told to tests. Lengths are in pixels.
({
  // Each line of each text that is drawn: what the text says, the line's box, and what it stands in.
  words() {
    const found = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const inside = node.parentElement;
      if (!node.data.trim() || inside.closest("title,style")) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      // What is cut with an ellipsis ends there.
      const end = getComputedStyle(inside).textOverflow === "ellipsis" ? inside.getBoundingClientRect().right : Infinity;
      for (const {left, top, right, height} of range.getClientRects()) {
        const box = new DOMRect(left, top, Math.min(right, end) - left, height);
        if (box.width > 0 && height) found.push({said: node.data.trim(), box, inside, node});
      }
    }
    return found;
  },

  said() {
    return this.words().map(one => one.said);
  },

  // Pairs of which one lies over the other, by more than a line and the next one share.
  overlaps() {
    const all = this.words().sort((one, other) => one.box.top - other.box.top), found = [];
    all.forEach((one, number) => {
      for (const other of all.slice(number + 1)) {
        if (other.box.top > one.box.bottom) break;
        const across = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
        const down = Math.min(one.box.bottom, other.box.bottom) - other.box.top;
        if (one.node !== other.node && across > 1 && down > 3) found.push(`${one.said} | ${other.said}`);
      }
    });
    return found;
  },

  // Words that leave the window, or the card of the picture, tile or section that they stand in.
  outside() {
    const cards = [...document.querySelectorAll(".topology rect[rx='10']")].map(one => one.getBoundingClientRect());
    return this.words().filter(({box, inside}) => {
      const around = inside.closest(".tile,section,header").getBoundingClientRect();
      const card = cards.find(one => one.left <= box.left && box.left < one.right && one.top <= box.top && box.top < one.bottom);
      const edge = card ? card.right : Math.min(around.right, innerWidth);
      return box.right > edge + 0.5 || box.left < 0;
    }).map(one => one.said);
  },

  // Of all words: the least contrast with what lies below them, by WCAG 2.2, and what has it. The window holds all.
  contrasts() {
    const channels = colour => colour.match(/[\d.]+/g).map(Number);
    const light = colour => {
      const [red, green, blue] = channels(colour).map(each => each / 255)
        .map(each => each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4);
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const solid = colour => /^rgb/.test(colour) && (channels(colour)[3] ?? 1) === 1;
    return this.words().map(({said, box, inside}) => {
      const drawn = inside.closest("text"), look = getComputedStyle(inside);
      const below = document.elementsFromPoint(box.left + box.width / 2, box.top + box.height / 2)
        .filter(one => one !== drawn).map(one => getComputedStyle(one))
        .map(one => solid(one.backgroundColor) ? one.backgroundColor : one.fill)
        .find((colour, number, all) => solid(colour) && !(colour === "rgb(0, 0, 0)" && number < all.length));
      const lights = [light(drawn ? look.fill : look.color), light(below)].sort((one, other) => other - one);
      return {said, ratio: (lights[0] + 0.05) / (lights[1] + 0.05)};
    });
  },

  boxes(selector) {
    return [...document.querySelectorAll(selector)].map(one => one.getBoundingClientRect())
      .map(one => [one.left + scrollX, one.top + scrollY, one.width, one.height]);
  },

  async canvas(png) {
    const bytes = Uint8Array.from(atob(png), letter => letter.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes]));
    const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
    canvas.drawImage(image, 0, 0);
    return canvas;
  },

  // Of each box of a picture its pixels, line by line: how light they are, 0 to 255.
  async lights(png, boxes) {
    const canvas = await this.canvas(png);
    return boxes.map(box => {
      const {data} = canvas.getImageData(...box.map(Math.round));
      return Array.from({length: data.length / 4}, (_, n) => 0.3 * data[4 * n] + 0.59 * data[4 * n + 1] + 0.11 * data[4 * n + 2]);
    });
  },

  // The part of two pictures' pixels that differ by more than a shade; all of them where sizes do.
  async differ(one, other) {
    const [here, there] = await Promise.all([this.canvas(one), this.canvas(other)]);
    const {width, height} = here.canvas;
    if (width !== there.canvas.width || height !== there.canvas.height) return 1;
    const [mine, theirs] = [here, there].map(each => each.getImageData(0, 0, width, height).data);
    let found = 0;
    for (let at = 0; at < mine.length; at += 4)
      found += [0, 1, 2].some(each => Math.abs(mine[at + each] - theirs[at + each]) > 48);
    return found / (width * height);
  },

  // A picture of its 256 most frequent colours: they, and of each pixel which one it is, or the nearest.
  async reduced(png) {
    const canvas = await this.canvas(png), {width, height} = canvas.canvas;
    const pixels = new Uint32Array(canvas.getImageData(0, 0, width, height).data.buffer), counts = new Map();
    for (const one of pixels) counts.set(one, (counts.get(one) ?? 0) + 1);
    const colours = [...counts].sort((one, other) => other[1] - one[1] || one[0] - other[0]).slice(0, 256).map(one => one[0]);
    const parts = one => [one & 255, one >> 8 & 255, one >> 16 & 255], known = new Map(colours.map((one, n) => [one, n]));
    const nearest = one => {
      const mine = parts(one), far = colours.map(each => parts(each).reduce((sum, part, n) => sum + (part - mine[n]) ** 2, 0));
      return far.indexOf(Math.min(...far));
    };
    let bytes = "";
    for (const one of pixels) {
      if (!known.has(one)) known.set(one, nearest(one));
      bytes += String.fromCharCode(known.get(one));
    }
    return {width, height, colours: colours.map(parts), pixels: btoa(bytes)};
  },
})
