{{/*
The connections that Postgres must allow: up to 20 for each replica of a service with a schema (packages/postgres), one more replica
of each during an upgrade, and some for migrations, backups and people.
*/}}
{{- define "coffer.postgresConnections" -}}
{{- $values := .Values -}}
{{- $autoscaled := or $values.autoscaling.enabled $values.autoscaling.keda.enabled -}}
{{- $sum := 20 -}}
{{- range $name, $row := include "coffer.services" . | fromYaml -}}
{{- if $row.schema -}}
{{- $service := index $values.services $name -}}
{{- $replicas := ternary $service.autoscaling.maxReplicas $service.replicas $autoscaled | int -}}
{{- $sum = add $sum (mul 20 (add 1 $replicas)) -}}
{{- end -}}
{{- end -}}
{{- $sum -}}
{{- end -}}

{{/* The Secret of a development store. Takes root and store. */}}
{{- define "coffer.devSecret" -}}
{{- default .root.Values.existingSecret (index .root.Values.dev .store).existingSecret -}}
{{- end -}}

{{/* The name of the variable with a service's password. Takes the name of the service. */}}
{{- define "coffer.passwordVariable" -}}
{{- printf "PASSWORD_%s" (. | upper | replace "-" "_") -}}
{{- end -}}

{{/* The passwords of all services as variables. Takes root and store. */}}
{{- define "coffer.passwordVariables" -}}
{{- range $name, $row := include "coffer.services" .root | fromYaml }}
{{- if not $row.alone }}
- name: {{ include "coffer.passwordVariable" $name }}
  valueFrom:
    secretKeyRef:
      name: {{ include "coffer.devSecret" $ }}
      key: {{ $.store }}.{{ $name }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Waits for the Postgres of this chart and makes the role and schema of a service. Takes root and name. */}}
{{- define "coffer.prepareSchema" -}}
{{- $fullname := include "coffer.fullname" .root -}}
{{- $row := index (include "coffer.services" .root | fromYaml) .name -}}
{{- $secret := include "coffer.devSecret" (dict "root" .root "store" "postgres") -}}
- name: wait
  image: {{ include "coffer.image" . }}
  imagePullPolicy: {{ .root.Values.image.pullPolicy }}
  command:
    - node
    - /sql/wait-for-store.mjs
    - {{ $fullname }}-postgres
    - "5432"
    - "300"
  volumeMounts:
    - name: sql
      mountPath: /sql
      readOnly: true
  resources:
    {{- toYaml .root.Values.migrations.resources | nindent 4 }}
  securityContext:
    {{- include "coffer.containerSecurity" .root | nindent 4 }}
- name: prepare
  image: {{ .root.Values.dev.postgres.image }}
  imagePullPolicy: {{ .root.Values.image.pullPolicy }}
  command:
    - psql
    - --no-psqlrc
    - --quiet
    - --variable=ON_ERROR_STOP=1
    - --file=/sql/schema.sql
  env:
    - name: PGHOST
      value: {{ $fullname }}-postgres
    - name: PGUSER
      value: postgres
    - name: PGDATABASE
      value: coffer
    - name: PGPASSWORD
      valueFrom:
        secretKeyRef:
          name: {{ $secret }}
          key: postgres.password
    - name: ROLE_PASSWORD
      valueFrom:
        secretKeyRef:
          name: {{ $secret }}
          key: postgres.{{ .name }}
    - name: PGOPTIONS
      value: -c coffer.role={{ $row.schema }} -c coffer.schema={{ $row.schema }} -c coffer.password=$(ROLE_PASSWORD)
  volumeMounts:
    - name: sql
      mountPath: /sql
      readOnly: true
  resources:
    {{- toYaml .root.Values.migrations.resources | nindent 4 }}
  securityContext:
    {{- include "coffer.containerSecurity" .root | nindent 4 }}
{{- end -}}

{{/* What a development store is reached by. Takes root, store and port. */}}
{{- define "coffer.storeAccess" -}}
{{- $scope := dict "root" .root "component" .store -}}
{{- $fullname := printf "%s-%s" (include "coffer.fullname" .root) .store -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ $fullname }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "coffer.labels" $scope | nindent 4 }}
automountServiceAccountToken: false
---
apiVersion: v1
kind: Service
metadata:
  name: {{ $fullname }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "coffer.labels" $scope | nindent 4 }}
spec:
  type: ClusterIP
  selector:
    {{- include "coffer.selectorLabels" $scope | nindent 4 }}
  ports:
    - name: {{ .store }}
      port: {{ .port }}
      targetPort: {{ .store }}
      protocol: TCP
{{- if .root.Values.networkPolicy.enabled }}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ $fullname }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "coffer.labels" $scope | nindent 4 }}
spec:
  podSelector:
    matchLabels:
      {{- include "coffer.selectorLabels" $scope | nindent 6 }}
  policyTypes:
    - Ingress
    - Egress
  ingress:
    - ports:
        - protocol: TCP
          port: {{ .store }}
      from:
        {{- range $name, $row := include "coffer.services" .root | fromYaml }}
        {{- if and (not $row.alone) (or $row.schema (ne $.store "postgres")) }}
        - podSelector:
            matchLabels:
              {{- include "coffer.selectorLabels" (dict "root" $.root "component" $name) | nindent 14 }}
        {{- end }}
        {{- end }}
        {{- if eq .store "postgres" }}
        {{- range list "migration" "backup" "restore-drill" "restore" }}
        - podSelector:
            matchLabels:
              {{- include "coffer.selectorLabels" (dict "root" $.root "component" .) | nindent 14 }}
        {{- end }}
        {{- end }}
{{- end }}
{{- end -}}
