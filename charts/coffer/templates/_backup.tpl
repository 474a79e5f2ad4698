{{/*
The services with a schema in the order in which their schemas are dumped. A service that sends messages comes before those
that it sends them to: a message that has left the outbox before its dump is then in the receiver's later dump.
*/}}
{{- define "coffer.backupOrder" -}}
- billing-webhook
- auth-sm
- vaults
- siem-forwarder
{{- end -}}

{{/* The ServiceAccount and the NetworkPolicy of a Job that reaches Postgres. Takes root and component. */}}
{{- define "coffer.backupAccess" -}}
{{- $fullname := printf "%s-%s" (include "coffer.fullname" .root) .component -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ $fullname }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "coffer.labels" . | nindent 4 }}
automountServiceAccountToken: false
{{- if .root.Values.networkPolicy.enabled }}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ $fullname }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "coffer.labels" . | nindent 4 }}
spec:
  podSelector:
    matchLabels:
      {{- include "coffer.selectorLabels" . | nindent 6 }}
  policyTypes:
    - Ingress
    - Egress
  egress:
    {{- include "coffer.dnsEgress" . | nindent 4 }}
    {{- include "coffer.storeEgress" (dict "root" .root "store" "postgres") | nindent 4 }}
{{- end }}
{{- end -}}

{{/* The head of a CronJob. Takes root, component, schedule and suspend. */}}
{{- define "coffer.backupCronJob" -}}
apiVersion: batch/v1
kind: CronJob
metadata:
  name: {{ include "coffer.fullname" .root }}-{{ .component }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "coffer.labels" . | nindent 4 }}
spec:
  schedule: {{ .schedule | quote }}
  {{- if .suspend }}
  suspend: true
  {{- end }}
  # One that could not begin within an hour is left out.
  startingDeadlineSeconds: 3600
  concurrencyPolicy: Forbid
  successfulJobsHistoryLimit: 3
  failedJobsHistoryLimit: 3
{{- end -}}

{{/* What the pods of backups have in common, all as the user of the image with pg_dump. Takes root and component. */}}
{{- define "coffer.backupPod" -}}
serviceAccountName: {{ include "coffer.fullname" .root }}-{{ .component }}
{{ include "coffer.podSecurity" (dict "root" .root "userId" .root.Values.backup.userId) }}
restartPolicy: Never
{{- end -}}

{{/* A container that runs backup.mjs; its command and mounts go on. Takes root and name. */}}
{{- define "coffer.backupScript" -}}
- name: {{ .name }}
  image: {{ include "coffer.image" (dict "root" .root "name" "siem-forwarder") }}
  imagePullPolicy: {{ .root.Values.image.pullPolicy }}
  resources:
    requests:
      cpu: 50m
      memory: 64Mi
    limits:
      memory: 256Mi
  securityContext:
    {{- include "coffer.containerSecurity" .root | nindent 4 }}
  command:
    - node
    - /scripts/backup.mjs
{{- end -}}

{{/* A container with the programs of Postgres; its command goes on. Takes root and name. */}}
{{- define "coffer.backupTool" -}}
- name: {{ .name }}
  image: {{ .root.Values.backup.image }}
  imagePullPolicy: {{ .root.Values.image.pullPolicy }}
  resources:
    requests:
      cpu: 50m
      memory: 64Mi
    limits:
      memory: 512Mi
  securityContext:
    {{- include "coffer.containerSecurity" .root | nindent 4 }}
{{- end -}}

{{/* The volumes of backup.mjs and of the backups. Takes root. */}}
{{- define "coffer.backupVolumes" -}}
- name: scripts
  configMap:
    name: {{ include "coffer.fullname" .root }}-backup
- name: backup
  persistentVolumeClaim:
    claimName: {{ .root.Values.backup.existingClaim }}
{{- end -}}
