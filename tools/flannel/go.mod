module landbridge/tools/flannel

go 1.26.0

require github.com/flannel-io/flannel v0.28.9

// Its SDK for Tencent's networks cannot be had by every proxy: vpc/ has the names that flannel needs to be built.
replace github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/vpc => ./vpc
