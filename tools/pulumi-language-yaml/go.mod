module landbridge/tools/pulumi-language-yaml

go 1.26

require github.com/pulumi/pulumi-yaml v1.30.0
