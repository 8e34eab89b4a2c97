"""Images of the local AWS that local machines can start from; every region has them under the same ids."""

PREFIX = "landbridge-"
STAND_INS = {"cpu": "ami-0c00000000000c001", "gpu": "ami-0c00000000000c002"}
