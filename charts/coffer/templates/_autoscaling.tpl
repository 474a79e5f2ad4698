{{/* Whether a service is scaled by its connections. */}}
{{- define "coffer.byConnections" -}}
{{- if gt (int (get .autoscaling "targetConnections")) 0 -}}true{{- end -}}
{{- end -}}

{{/* Added at once and removed slowly: a removed replica of sync sends its devices elsewhere. */}}
{{- define "coffer.scalingBehavior" -}}
scaleUp:
  stabilizationWindowSeconds: 0
  policies:
    - type: Percent
      value: 100
      periodSeconds: 60
    - type: Pods
      value: 2
      periodSeconds: 60
  selectPolicy: Max
scaleDown:
  stabilizationWindowSeconds: {{ include "coffer.whole" .root.Values.autoscaling.scaleDownSeconds }}
  policies:
    - type: Pods
      value: 1
      periodSeconds: 120
{{- end -}}

{{- define "coffer.horizontalPodAutoscaler" -}}
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ .fullname }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "coffer.labels" .scope | nindent 4 }}
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: {{ .fullname }}
  minReplicas: {{ include "coffer.whole" .service.autoscaling.minReplicas }}
  maxReplicas: {{ include "coffer.whole" .service.autoscaling.maxReplicas }}
  metrics:
    {{- if include "coffer.byConnections" .service }}
    - type: Pods
      pods:
        metric:
          name: coffer_sync_connections
        target:
          type: AverageValue
          averageValue: {{ include "coffer.whole" .service.autoscaling.targetConnections | quote }}
    {{- else }}
    - type: Resource
      resource:
        name: cpu
        target:
          type: Utilization
          averageUtilization: {{ include "coffer.whole" .service.autoscaling.targetCpuPercent }}
    {{- end }}
  behavior:
    {{- include "coffer.scalingBehavior" . | nindent 4 }}
{{- end -}}

{{- define "coffer.scaledObject" -}}
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata:
  name: {{ .fullname }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "coffer.labels" .scope | nindent 4 }}
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: {{ .fullname }}
  minReplicaCount: {{ include "coffer.whole" .service.autoscaling.minReplicas }}
  maxReplicaCount: {{ include "coffer.whole" .service.autoscaling.maxReplicas }}
  advanced:
    horizontalPodAutoscalerConfig:
      behavior:
        {{- include "coffer.scalingBehavior" . | nindent 8 }}
  triggers:
    {{- if include "coffer.byConnections" .service }}
    - type: prometheus
      metricType: AverageValue
      metadata:
        serverAddress: {{ .root.Values.autoscaling.keda.prometheusAddress }}
        query: sum(coffer_sync_connections{namespace="{{ .root.Release.Namespace }}"})
        threshold: {{ include "coffer.whole" .service.autoscaling.targetConnections | quote }}
    {{- else }}
    - type: cpu
      metricType: Utilization
      metadata:
        value: {{ include "coffer.whole" .service.autoscaling.targetCpuPercent | quote }}
    {{- end }}
{{- end -}}
