// Package v20170312 stands in for the SDK of Tencent's networks, a backend of flannel that no fleet has.
package v20170312

import "errors"

var errMissing = errors.New("this flannel was built without Tencent's SDK")

type Client struct{}

type Filter struct {
	Name   *string
	Values []*string
}

type Route struct {
	DestinationCidrBlock, GatewayType, GatewayId, RouteType *string
	Enabled                                                 *bool
	RouteId                                                 *uint64
}

type RouteTable struct {
	RouteTableId *string
	RouteSet     []*Route
}

type Request struct {
	RouteTableId *string
	Routes       []*Route
	Filters      []*Filter
}

type Response struct {
	Response struct{ RouteTableSet []*RouteTable }
}

func NewClientWithSecretId(_, _, _ string) (*Client, error) { return nil, errMissing }

func NewDescribeRouteTablesRequest() *Request { return &Request{} }
func NewCreateRoutesRequest() *Request        { return &Request{} }
func NewDeleteRoutesRequest() *Request        { return &Request{} }

func (*Client) DescribeRouteTables(*Request) (*Response, error) { return nil, errMissing }
func (*Client) CreateRoutes(*Request) (*Response, error)        { return nil, errMissing }
func (*Client) DeleteRoutes(*Request) (*Response, error)        { return nil, errMissing }
