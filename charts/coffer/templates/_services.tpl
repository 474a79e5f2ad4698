{{/*
The list of services: everything that has a row here gets a Deployment, a Service, a ServiceAccount, policies, routes, an
autoscaler and, with a schema, a migration. deploy/chart compares it with the list of npm start.
  schema          its schema and role in Postgres, or empty
  alone           it reaches nothing: no store, no bus, no name server
  drainSeconds    COFFER_DRAIN_SECONDS: over how long connections are closed
  graceSeconds    how long a pod may take to end, preStop included
  websocket       its route stays open
  internet        it may reach the internet, on siem.ports
  variables       the settings that it alone reads
  secrets         the variables that it alone has in its Secret, besides the addresses of the stores
*/}}
{{- define "coffer.services" -}}
auth-sm:
  schema: auth_sm
  drainSeconds: 15
  graceSeconds: 30
  websocket: false
  internet: false
  variables:
    - COFFER_SIGNUPS
    - COFFER_QUOTA_SECRETS
    - COFFER_QUOTA_MIB
  secrets: []
vaults:
  schema: vaults
  drainSeconds: 15
  graceSeconds: 30
  websocket: false
  internet: false
  variables:
    - COFFER_QUOTA_RECORDS
    - COFFER_QUOTA_MIB
  secrets: []
sync:
  schema: ""
  drainSeconds: 25
  graceSeconds: 60
  websocket: true
  internet: false
  variables:
    - COFFER_LIMIT_SOCKETS_SESSION
    - COFFER_LIMIT_SOCKETS_USER
  secrets: []
billing-webhook:
  schema: billing_webhook
  drainSeconds: 15
  graceSeconds: 30
  websocket: false
  internet: false
  variables:
    - COFFER_STRIPE_PRICES
  {{- if .Values.billing.enabled }}
  secrets:
    - COFFER_STRIPE_WEBHOOK_SECRETS
  {{- else }}
  secrets: []
  {{- end }}
siem-forwarder:
  schema: siem_forwarder
  drainSeconds: 15
  graceSeconds: 30
  websocket: false
  internet: true
  variables:
    - COFFER_SIEM_ALLOWED_CIDRS
  secrets:
    - COFFER_SIEM_KEYS
scanner:
  schema: ""
  drainSeconds: 15
  graceSeconds: 30
  websocket: false
  internet: false
  variables: []
  secrets: []
{{- if .Values.console.enabled }}
console:
  schema: ""
  alone: true
  drainSeconds: 15
  graceSeconds: 30
  websocket: false
  internet: false
  variables: []
  secrets: []
{{- end }}
{{- end -}}

{{/* Seconds for which a pod goes on serving while the routes forget it. */}}
{{- define "coffer.preStopSeconds" -}}
5
{{- end -}}

{{/* The largest number of replicas of a service. Takes its values and the chart's autoscaling. */}}
{{- define "coffer.mostReplicas" -}}
{{- if or .autoscaling.enabled .autoscaling.keda.enabled -}}
{{- .service.autoscaling.maxReplicas -}}
{{- else -}}
{{- max 1 .service.replicas -}}
{{- end -}}
{{- end -}}
