{{/* What is missing or does not fit together, all at once. What one value alone shows is the schema's part. */}}
{{- define "coffer.problems" -}}
{{- $values := .Values -}}
{{- $problems := list -}}
{{- if not $values.baseUrls -}}
{{- $problems = append $problems "baseUrls: name the public address, for example https://coffer.example.com" -}}
{{- end -}}
{{- range $name, $service := $values.services -}}
{{- if not (or $service.existingSecret $values.existingSecret (eq $name "console")) -}}
{{- $problems = append $problems (printf "services.%s.existingSecret, or existingSecret: name the Secret with the addresses of the stores" $name) -}}
{{- end -}}
{{- if and (or $values.autoscaling.enabled $values.autoscaling.keda.enabled) (gt (int $service.autoscaling.minReplicas) (int $service.autoscaling.maxReplicas)) -}}
{{- $problems = append $problems (printf "services.%s.autoscaling: minReplicas is more than maxReplicas" $name) -}}
{{- end -}}
{{- end -}}
{{- range $store := list "postgres" "nats" "redis" -}}
{{- $dev := index $values.dev $store -}}
{{- if and $dev.enabled (not (or $dev.existingSecret $values.existingSecret)) -}}
{{- $problems = append $problems (printf "dev.%s.existingSecret, or existingSecret: name the Secret that coffer dev secrets writes" $store) -}}
{{- end -}}
{{- end -}}
{{- if and $values.autoscaling.enabled $values.autoscaling.keda.enabled -}}
{{- $problems = append $problems "autoscaling.enabled and autoscaling.keda.enabled: choose one" -}}
{{- end -}}
{{- if and $values.autoscaling.keda.enabled (gt (int $values.services.sync.autoscaling.targetConnections) 0) (not $values.autoscaling.keda.prometheusAddress) -}}
{{- $problems = append $problems "autoscaling.keda.prometheusAddress: name the Prometheus that knows sync's connections, or set services.sync.autoscaling.targetConnections to 0" -}}
{{- end -}}
{{- if and $values.gateway.enabled (not $values.gateway.parentRefs) -}}
{{- $problems = append $problems "gateway.parentRefs: name the Gateway" -}}
{{- end -}}
{{- if and $values.tests.enabled $values.tests.url (not (has $values.tests.url $values.baseUrls)) -}}
{{- $problems = append $problems "tests.url: it must be one of baseUrls" -}}
{{- end -}}
{{- if and $values.backup.enabled (not $values.backup.existingClaim) -}}
{{- $problems = append $problems "backup.existingClaim: name the PersistentVolumeClaim that the dumps are written to" -}}
{{- end -}}
{{- if $problems -}}
{{- fail (printf "\n\nThe values do not work yet:\n- %s\n" (join "\n- " $problems)) -}}
{{- end -}}
{{- end -}}
