module landbridge/tools/victoria-logs

go 1.26.5

require (
	github.com/VictoriaMetrics/VictoriaMetrics v1.146.1-0.20260630165203-c82127b6d4d1
	github.com/VictoriaMetrics/easyproto v1.2.0
	github.com/VictoriaMetrics/metrics v1.44.0
	github.com/bmatcuk/doublestar/v4 v4.10.0
	github.com/cespare/xxhash/v2 v2.3.0
	github.com/ergochat/readline v0.1.3
	github.com/golang/snappy v1.0.0
	github.com/google/go-cmp v0.7.0
	github.com/klauspost/compress v1.18.6
	github.com/mattn/go-isatty v0.0.22
	github.com/valyala/fastjson v1.6.10
	github.com/valyala/fastrand v1.1.0
	github.com/valyala/quicktemplate v1.8.0
	gopkg.in/yaml.v2 v2.4.0
)

require (
	github.com/VictoriaMetrics/metricsql v0.87.2 // indirect
	github.com/valyala/bytebufferpool v1.0.0 // indirect
	github.com/valyala/fasttemplate v1.2.2 // indirect
	github.com/valyala/gozstd v1.24.0 // indirect
	github.com/valyala/histogram v1.2.0 // indirect
	golang.org/x/oauth2 v0.36.0 // indirect
	golang.org/x/sys v0.46.0 // indirect
	golang.org/x/text v0.38.0 // indirect
)

require github.com/VictoriaMetrics/VictoriaLogs v1.52.1
