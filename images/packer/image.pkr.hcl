# For those who want a builder machine in their account: it runs `landbridge image bake` as any machine would, and its
# second volume, onto which the raw disk goes, becomes the AMI. Nothing of the recipe stands here.

variable "region" {
  type = string
}

variable "subnet_id" {
  type = string
}

# `git archive --format=tar.gz --output=landbridge.tar.gz HEAD`
variable "checkout" {
  type = string
}

# Words of `landbridge image bake`, such as "--base ubuntu-26.04 --variant gpu --driver ubuntu-580".
variable "bake" {
  type    = string
  default = "--variant cpu"
}

variable "name" {
  type = string
}

variable "volume_gib" {
  type    = number
  default = 8
}

source "amazon-ebssurrogate" "image" {
  region        = var.region
  subnet_id     = var.subnet_id
  instance_type = "c7i.xlarge"
  ssh_username  = "admin"

  source_ami_filter {
    owners      = ["136693071363"] # Debian's
    most_recent = true
    filters = {
      name = "debian-13-amd64-*"
    }
  }

  launch_block_device_mappings {
    device_name           = "/dev/xvdf"
    volume_type           = "gp3"
    iops                  = 3000
    throughput            = 125
    volume_size           = var.volume_gib
    delete_on_termination = true
  }

  ami_name                = var.name
  ami_virtualization_type = "hvm"
  ena_support             = true
  boot_mode               = "uefi" # since the plugin's 1.0

  ami_root_device {
    source_device_name    = "/dev/xvdf"
    device_name           = "/dev/xvda"
    volume_type           = "gp3"
    volume_size           = var.volume_gib
    delete_on_termination = true
  }

  tags = {
    "landbridge:bake" = var.bake
  }
}

build {
  sources = ["source.amazon-ebssurrogate.image"]

  provisioner "file" {
    source      = var.checkout
    destination = "/tmp/landbridge.tar.gz"
  }

  provisioner "shell" {
    execute_command = "sudo env {{ .Vars }} bash -euo pipefail {{ .Path }}"
    environment_vars = [
      "BAKE=${var.bake}",
      "LANDBRIDGE_IMAGES=/opt/landbridge-images",
    ]
    script = "${path.root}/bake.sh"
  }
}
