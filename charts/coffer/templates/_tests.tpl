{{/* The port of an address. */}}
{{- define "coffer.urlPort" -}}
{{- $parsed := urlParse . -}}
{{- $port := regexFind ":[0-9]+$" $parsed.host | trimPrefix ":" -}}
{{- default (ternary "80" "443" (eq $parsed.scheme "http")) $port -}}
{{- end -}}

{{/* What the pods of helm test have in common. Takes root and fullname. */}}
{{- define "coffer.testPod" -}}
{{- $tests := .root.Values.tests -}}
serviceAccountName: {{ .fullname }}
{{ include "coffer.podSecurity" (dict "root" .root "userId" (include "coffer.userId" .root)) }}
restartPolicy: Never
terminationGracePeriodSeconds: 5
{{- with $tests.hostAliases }}
hostAliases:
  {{- toYaml . | nindent 2 }}
{{- end }}
volumes:
  - name: tests
    configMap:
      name: {{ .fullname }}
  - name: tmp
    emptyDir: {}
  {{- with $tests.caConfigMap }}
  - name: authority
    configMap:
      name: {{ . }}
  {{- end }}
{{- end -}}

{{/* The rest of a container of helm test; its env goes on. Takes root and script. */}}
{{- define "coffer.testContainer" -}}
{{- $tests := .root.Values.tests -}}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
command:
  - node
  - /tests/{{ .script }}
resources:
  requests:
    cpu: 50m
    memory: 128Mi
  limits:
    memory: 512Mi
securityContext:
  {{- include "coffer.containerSecurity" .root | nindent 2 }}
volumeMounts:
  - name: tests
    mountPath: /tests
    readOnly: true
  - name: tmp
    mountPath: /tmp
  {{- if $tests.caConfigMap }}
  - name: authority
    mountPath: /authority
    readOnly: true
  {{- end }}
env:
  {{- if $tests.caConfigMap }}
  - name: NODE_EXTRA_CA_CERTS
    value: /authority/ca.crt
  {{- end }}
  - name: TMPDIR
    value: /tmp
{{- end -}}
