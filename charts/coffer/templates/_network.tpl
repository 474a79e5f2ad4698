{{/* An egress rule to a store: the chart's own pod, or the peers of the values. Takes root and store. */}}
{{- define "coffer.storeEgress" -}}
{{- $policy := .root.Values.networkPolicy -}}
{{- $port := index (dict "postgres" 5432 "nats" 4222 "redis" 6379) .store -}}
{{- if (index .root.Values.dev .store).enabled -}}
- to:
    - podSelector:
        matchLabels:
          {{- include "coffer.selectorLabels" (dict "root" .root "component" .store) | nindent 10 }}
  ports:
    - protocol: TCP
      port: {{ $port }}
{{- else -}}
- ports:
    - protocol: TCP
      port: {{ include "coffer.whole" (index $policy (printf "%sPort" .store)) }}
    {{- if and (eq .store "redis") (gt (int $policy.redisSentinelPort) 0) }}
    - protocol: TCP
      port: {{ include "coffer.whole" $policy.redisSentinelPort }}
    {{- end }}
  {{- with index $policy (printf "%sPeers" .store) }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}
{{- end -}}

{{- define "coffer.dnsEgress" -}}
- ports:
    - protocol: UDP
      port: 53
    - protocol: TCP
      port: 53
  {{- with .root.Values.networkPolicy.dnsPeers }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{/* The internet, without private, shared, link-local, loopback, documentation and multicast networks. */}}
{{- define "coffer.internetEgress" -}}
- to:
    - ipBlock:
        cidr: 0.0.0.0/0
        except:
          - 0.0.0.0/8
          - 10.0.0.0/8
          - 100.64.0.0/10
          - 127.0.0.0/8
          - 169.254.0.0/16
          - 172.16.0.0/12
          - 192.0.0.0/24
          - 192.168.0.0/16
          - 198.18.0.0/15
          - 224.0.0.0/4
          - 240.0.0.0/4
    - ipBlock:
        cidr: 2000::/3
    {{- range .root.Values.siem.allowedCidrs }}
    - ipBlock:
        cidr: {{ . | quote }}
    {{- end }}
  ports:
    {{- range .root.Values.siem.ports }}
    - protocol: TCP
      port: {{ include "coffer.whole" . }}
    {{- end }}
{{- end -}}

{{/* What a service may receive and reach. Takes root, row, fullname and scope. */}}
{{- define "coffer.serviceNetworkPolicy" -}}
{{- $values := .root.Values -}}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ .fullname }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "coffer.labels" .scope | nindent 4 }}
spec:
  podSelector:
    matchLabels:
      {{- include "coffer.selectorLabels" .scope | nindent 6 }}
  policyTypes:
    - Ingress
    - Egress
  ingress:
    - ports:
        - protocol: TCP
          port: http
      {{- with $values.networkPolicy.gatewayPeers }}
      from:
        {{- toYaml . | nindent 8 }}
        - podSelector:
            matchLabels:
              {{- include "coffer.selectorLabels" (dict "root" $.root "component" "test") | nindent 14 }}
      {{- end }}
    {{- with $values.networkPolicy.metricsPeers }}
    - ports:
        - protocol: TCP
          port: management
      from:
        {{- toYaml . | nindent 8 }}
    {{- end }}
  {{- if and .row.alone (not $values.telemetry.otlpEndpoint) }}
  egress: []
  {{- else }}
  egress:
    {{- include "coffer.dnsEgress" . | nindent 4 }}
    {{- if .row.schema }}
    {{- include "coffer.storeEgress" (dict "root" .root "store" "postgres") | nindent 4 }}
    {{- end }}
    {{- if not .row.alone }}
    {{- include "coffer.storeEgress" (dict "root" .root "store" "nats") | nindent 4 }}
    {{- include "coffer.storeEgress" (dict "root" .root "store" "redis") | nindent 4 }}
    {{- end }}
    {{- if $values.telemetry.otlpEndpoint }}
    - ports:
        - protocol: TCP
          port: {{ include "coffer.whole" $values.telemetry.port }}
      {{- with $values.telemetry.peers }}
      to:
        {{- toYaml . | nindent 8 }}
      {{- end }}
    {{- end }}
    {{- if .row.internet }}
    {{- include "coffer.internetEgress" . | nindent 4 }}
    {{- end }}
  {{- end }}
{{- end -}}
