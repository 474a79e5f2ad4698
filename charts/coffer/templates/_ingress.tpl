{{/*
What common controllers need: connections that stay open, bodies of 32 MiB, and no access log on the path whose query
holds a token. Takes a dictionary with controller and websocket.
*/}}
{{- define "coffer.ingressAnnotations" -}}
{{- if eq .controller "nginx" }}
{{- if .websocket }}
nginx.ingress.kubernetes.io/proxy-read-timeout: "3600"
nginx.ingress.kubernetes.io/proxy-send-timeout: "3600"
nginx.ingress.kubernetes.io/enable-access-log: "false"
{{- else }}
nginx.ingress.kubernetes.io/proxy-body-size: 33m
nginx.ingress.kubernetes.io/proxy-read-timeout: "130"
nginx.ingress.kubernetes.io/proxy-request-buffering: "off"
{{- end }}
{{- else if eq .controller "haproxy" }}
{{- if .websocket }}
haproxy.org/timeout-tunnel: 3600s
haproxy-ingress.github.io/timeout-tunnel: 3600s
{{- else }}
haproxy.org/timeout-server: 130s
haproxy-ingress.github.io/timeout-server: 130s
{{- end }}
{{- else if eq .controller "contour" }}
{{- if .websocket }}
projectcontour.io/websocket-routes: /api/sync/ws
projectcontour.io/response-timeout: infinity
{{- else }}
projectcontour.io/response-timeout: 130s
{{- end }}
{{- else if eq .controller "alb" }}
alb.ingress.kubernetes.io/target-type: ip
alb.ingress.kubernetes.io/group.name: coffer
alb.ingress.kubernetes.io/load-balancer-attributes: idle_timeout.timeout_seconds=3600
alb.ingress.kubernetes.io/healthcheck-port: "9090"
alb.ingress.kubernetes.io/healthcheck-path: /readyz
{{- else }}
{}
{{- end }}
{{- end -}}
