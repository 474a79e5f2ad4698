{{/* The annotations of what runs before an installation and an upgrade. Takes the weight. */}}
{{- define "coffer.hook" -}}
helm.sh/hook: pre-install,pre-upgrade
helm.sh/hook-weight: {{ . | quote }}
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end -}}
