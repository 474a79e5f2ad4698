{{/* The chart's name, or what replaces it. */}}
{{- define "coffer.chartName" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* What the names of all objects begin with. */}}
{{- define "coffer.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains (include "coffer.chartName" .) .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "coffer.chartName" .) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* The labels that select pods. Takes a dictionary with root and component. */}}
{{- define "coffer.selectorLabels" -}}
app.kubernetes.io/name: {{ include "coffer.chartName" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{/* The labels of an object. Takes a dictionary with root and component. */}}
{{- define "coffer.labels" -}}
{{ include "coffer.selectorLabels" . }}
app.kubernetes.io/part-of: coffer
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name (.root.Chart.Version | replace "+" "_") }}
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* The image of a service. Takes a dictionary with root and name. */}}
{{- define "coffer.image" -}}
{{- $image := (index .root.Values.services .name).image -}}
{{- $repository := default (printf "%s/%s" .root.Values.image.repository .name) $image.repository -}}
{{- if $image.digest -}}
{{- printf "%s@%s" $repository $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $repository (default (default .root.Chart.AppVersion .root.Values.image.tag) $image.tag) -}}
{{- end -}}
{{- end -}}

{{/* The host names of the routes, as a JSON list. */}}
{{- define "coffer.hostnames" -}}
{{- $given := .given -}}
{{- if not $given -}}
{{- $given = list -}}
{{- range .root.Values.baseUrls -}}
{{- $host := regexReplaceAll ":[0-9]+$" (get (urlParse .) "host") "" -}}
{{- if not (or (regexMatch "^[0-9.]+$" $host) (hasPrefix "[" $host)) -}}
{{- $given = append $given $host -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $given | uniq | toJson -}}
{{- end -}}
