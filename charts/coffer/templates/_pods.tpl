{{/* What every pod has in common. Takes a dictionary with root and userId. */}}
{{- define "coffer.podSecurity" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: {{ include "coffer.whole" .userId }}
  runAsGroup: {{ include "coffer.whole" .userId }}
  fsGroup: {{ include "coffer.whole" .userId }}
  # Otherwise each start would open the database's folder to the group, and Postgres refuses that.
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .root.Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "coffer.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities:
  drop:
    - ALL
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{/* The same for a service. Takes a dictionary with root. */}}
{{- define "coffer.serviceContainerSecurity" -}}
{{- $security := include "coffer.containerSecurity" .root -}}
{{- if .root.Values.dev.writableRootFilesystem -}}
{{- $security = replace "readOnlyRootFilesystem: true" "readOnlyRootFilesystem: false" $security -}}
{{- end -}}
{{- $security -}}
{{- end -}}

{{/* The user of the services' images. */}}
{{- define "coffer.userId" -}}
65532
{{- end -}}
