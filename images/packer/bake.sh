# Runs on the builder machine, as root: the bake, and its raw disk onto the second volume.
apt-get update -q
apt-get install -q -y --no-install-recommends python3-venv make git gcc libc6-dev
mkdir /opt/landbridge
tar --extract --gzip --file /tmp/landbridge.tar.gz --directory /opt/landbridge
cd /opt/landbridge
make setup
# shellcheck disable=SC2086 # several words
said=$(.venv/bin/landbridge image bake $BAKE --json)
field() { python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]] or "none")' "$1" <<<"$said"; }
baked="$(field variant) $(field kubernetes) $(field driver)"
if [ "$baked" != "$TAGGED" ]; then
  echo "The image is $baked (variant, Kubernetes, driver), and its tags were to say $TAGGED: correct the variables." >&2
  exit 1
fi
folder=$(field folder)
.venv/bin/landbridge image test "$folder"
# Nitro machines call it by its own number; the one without partitions is ours.
device=$(lsblk --noheadings --nodeps --paths --output NAME,TYPE | awk '$2 == "disk" {print $1}' | while read -r disk; do
  if [ "$(lsblk --noheadings --output NAME "$disk" | wc -l)" = 1 ]; then echo "$disk"; fi
done)
dd if="$folder/disk.raw" of="$device" bs=4M conv=fsync
