# Apart from the rest: Packer before 1.7 takes no such block, and has the builder built in.
packer {
  required_plugins {
    amazon = {
      source  = "github.com/hashicorp/amazon"
      version = ">= 1.3.0"
    }
  }
}
