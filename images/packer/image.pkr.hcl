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

# What the image is tagged with, so that it can be promoted. The build stops where the bake made another one.
variable "fleet" {
  type = string
}

variable "kubernetes" {
  type = string
}

variable "variant" {
  type    = string
  default = "cpu"
}

# NVIDIA's version, such as "580.95.05".
variable "driver" {
  type    = string
  default = "none"
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
  encrypt_boot            = true # with the account's own key for disks
  ami_virtualization_type = "hvm"
  ena_support             = true
  boot_mode               = "uefi" # since the plugin's 1.0

  ami_root_device {
    source_device_name    = "/dev/xvdf"
    device_name           = "/dev/sda1" # as launch templates call it
    volume_type           = "gp3"
    volume_size           = var.volume_gib
    delete_on_termination = true
  }

  # Without the digest, which is known on the builder alone.
  tags = {
    "landbridge:bake"       = var.bake
    "landbridge:fleet"      = var.fleet
    "landbridge:image"      = var.name
    "landbridge:kubernetes" = var.kubernetes
    "landbridge:variant"    = var.variant
    "landbridge:driver"     = var.driver
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
      "TAGGED=${var.variant} ${var.kubernetes} ${var.driver}",
      "LANDBRIDGE_IMAGES=/opt/landbridge-images",
    ]
    script = "${path.root}/bake.sh"
  }
}
