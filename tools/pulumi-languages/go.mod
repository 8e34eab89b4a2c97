module landbridge/tools/pulumi-languages

go 1.26

require (
	github.com/pulumi/pulumi/pkg/v3 v3.187.0
	github.com/pulumi/pulumi/sdk/go/pulumi-language-go/v3 v3.0.0-20250806165243-bee5e4fa4815
	github.com/pulumi/pulumi/sdk/nodejs/cmd/pulumi-language-nodejs/v3 v3.0.0-20250806165243-bee5e4fa4815
	github.com/pulumi/pulumi/sdk/v3 v3.187.0
)
