{{/* A number that YAML may have read as a floating one. */}}
{{- define "coffer.whole" -}}
{{- . | int64 -}}
{{- end -}}

{{/*
Where one variable of a service comes from. A service's own Secret has the variables as keys; the common one has
<service>.<variable>. Takes a dictionary with root, name and variable.
*/}}
{{- define "coffer.secretVariable" -}}
{{- $own := (index .root.Values.services .name).existingSecret -}}
- name: {{ .variable }}
  valueFrom:
    secretKeyRef:
      {{- if $own }}
      name: {{ $own }}
      key: {{ .variable }}
      {{- else }}
      name: {{ .root.Values.existingSecret }}
      key: {{ printf "%s.%s" .name .variable }}
      {{- end }}
{{- end -}}

{{/* The environment of a service. Takes a dictionary with root, name and row. */}}
{{- define "coffer.environment" -}}
{{- $values := .root.Values -}}
{{- $service := index $values.services .name -}}
{{- $limits := $values.settings.limits -}}
{{- $quotas := $values.settings.quotas -}}
{{- $own := dict
  "COFFER_SIGNUPS" $values.settings.signups
  "COFFER_QUOTA_SECRETS" (include "coffer.whole" $quotas.secrets)
  "COFFER_QUOTA_RECORDS" (include "coffer.whole" $quotas.records)
  "COFFER_QUOTA_MIB" (include "coffer.whole" $quotas.mebibytes)
  "COFFER_LIMIT_SOCKETS_SESSION" (include "coffer.whole" $limits.socketsPerSession)
  "COFFER_LIMIT_SOCKETS_USER" (include "coffer.whole" $limits.socketsPerUser)
  "COFFER_SIEM_ALLOWED_CIDRS" (join "," $values.siem.allowedCidrs)
  "COFFER_STRIPE_PRICES" (ternary (toRawJson $values.billing.prices) "" (and $values.billing.enabled (gt (len $values.billing.prices) 0)))
-}}
- name: COFFER_PORT
  value: {{ include "coffer.whole" $values.ports.public | quote }}
- name: COFFER_MANAGEMENT_PORT
  value: {{ include "coffer.whole" $values.ports.management | quote }}
- name: COFFER_DRAIN_SECONDS
  value: {{ .row.drainSeconds | quote }}
- name: COFFER_LOG_LEVEL
  value: {{ $values.settings.logLevel | quote }}
{{- if not .row.alone }}
- name: COFFER_BASE_URL
  value: {{ join "," $values.baseUrls | quote }}
- name: COFFER_REPLICAS
  value: {{ include "coffer.mostReplicas" (dict "service" $service "autoscaling" $values.autoscaling) | quote }}
- name: COFFER_BILLING
  value: {{ ternary "stripe" "off" $values.billing.enabled | quote }}
- name: COFFER_ACCESS_TOKEN_SECONDS
  value: {{ include "coffer.whole" $values.settings.accessTokenSeconds | quote }}
- name: COFFER_LIMIT_STRICT
  value: {{ include "coffer.whole" $limits.strict | quote }}
- name: COFFER_LIMIT_STANDARD
  value: {{ include "coffer.whole" $limits.standard | quote }}
- name: COFFER_LIMIT_USER
  value: {{ include "coffer.whole" $limits.user | quote }}
{{- with $values.trustedProxyCidrs }}
- name: COFFER_TRUSTED_PROXY_CIDRS
  value: {{ join "," . | quote }}
{{- end }}
{{- with $values.settings.syncAllowedOrigins }}
- name: COFFER_SYNC_ALLOWED_ORIGINS
  value: {{ join "," . | quote }}
{{- end }}
{{- end }}
{{- with $values.telemetry.otlpEndpoint }}
- name: OTEL_EXPORTER_OTLP_ENDPOINT
  value: {{ . | quote }}
{{- end }}
{{- range $variable := .row.variables }}
{{- with index $own $variable }}
- name: {{ $variable }}
  value: {{ . | quote }}
{{- end }}
{{- end }}
{{- if .row.schema }}
{{ include "coffer.secretVariable" (dict "root" .root "name" .name "variable" "COFFER_POSTGRES_URL") }}
{{- end }}
{{- if not .row.alone }}
{{ include "coffer.secretVariable" (dict "root" .root "name" .name "variable" "COFFER_NATS_URL") }}
{{ include "coffer.secretVariable" (dict "root" .root "name" .name "variable" "COFFER_NATS_CREDENTIALS") }}
{{ include "coffer.secretVariable" (dict "root" .root "name" .name "variable" "COFFER_REDIS_URL") }}
{{- end }}
{{- range $variable := .row.secrets }}
{{ include "coffer.secretVariable" (dict "root" $.root "name" $.name "variable" $variable) }}
{{- end }}
{{- end -}}

{{/* The environment with the additions of the values. A name that is there twice stops the rendering. */}}
{{- define "coffer.wholeEnvironment" -}}
{{- $entries := include "coffer.environment" . | fromYamlArray -}}
{{- $entries = concat $entries .root.Values.extraEnv (index .root.Values.services .name).extraEnv -}}
{{- $names := dict -}}
{{- range $entries -}}
{{- if hasKey $names .name -}}
{{- fail (printf "extraEnv: %s of %s is set already" .name $.name) -}}
{{- end -}}
{{- $_ := set $names .name true -}}
{{- end -}}
{{- toYaml $entries -}}
{{- end -}}
