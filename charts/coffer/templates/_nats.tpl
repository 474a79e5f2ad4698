{{/* The configuration of the development NATS: the permissions of files/nats-users.json, passwords as variables. */}}
{{- define "coffer.natsConfig" -}}
{{- $users := .Files.Get "files/nats-users.json" | fromJson -}}
port: 4222
max_payload: {{ include "coffer.whole" $users.maxPayload }}
authorization {
  users: [
    {{- range $name, $row := include "coffer.services" . | fromYaml }}
    {{- if not $row.alone }}
    {{- $user := index $users.users $name }}
    {
      user: {{ $name | quote }}
      password: ${{ include "coffer.passwordVariable" $name }}
      permissions: {
        publish: {{ include "coffer.natsList" $user.publish }}
        subscribe: {{ include "coffer.natsList" $user.subscribe }}
        {{- if $user.allowResponses }}
        allow_responses: { max: 1, expires: {{ $users.responseExpiry | quote }} }
        {{- end }}
      }
    }
    {{- end }}
    {{- end }}
  ]
}
{{- end -}}

{{/* The server takes an empty list for everything. */}}
{{- define "coffer.natsList" -}}
{{- if . -}}{ allow: {{ . | toRawJson }} }{{- else -}}{ deny: [">"] }{{- end -}}
{{- end -}}
