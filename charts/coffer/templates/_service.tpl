{{/* Everything that one service consists of. Takes a dictionary with root, name and row. */}}
{{- define "coffer.service" -}}
{{- $values := .root.Values -}}
{{- $service := index $values.services .name -}}
{{- $fullname := printf "%s-%s" (include "coffer.fullname" .root) .name -}}
{{- $scope := dict "root" .root "component" .name -}}
{{- $autoscaled := or $values.autoscaling.enabled $values.autoscaling.keda.enabled -}}
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
    - name: http
      port: 80
      targetPort: http
      protocol: TCP
      appProtocol: {{ ternary "kubernetes.io/ws" "http" .row.websocket }}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $fullname }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "coffer.labels" $scope | nindent 4 }}
spec:
  {{- if not $autoscaled }}
  replicas: {{ include "coffer.whole" $service.replicas }}
  {{- else }}
  {{- /* Without the number Helm would set 1 where replicas was set before. A rendering without a cluster omits it. */}}
  {{- with lookup "apps/v1" "Deployment" .root.Release.Namespace $fullname }}
  replicas: {{ max (int .spec.replicas) (int $service.autoscaling.minReplicas) }}
  {{- end }}
  {{- end }}
  revisionHistoryLimit: 5
  strategy:
    type: RollingUpdate
    rollingUpdate:
      maxUnavailable: 0
      maxSurge: 1
  selector:
    matchLabels:
      {{- include "coffer.selectorLabels" $scope | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "coffer.labels" $scope | nindent 8 }}
        {{- with $values.podLabels }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      annotations:
        kubectl.kubernetes.io/default-container: {{ .name }}
        # A change of the environment starts new pods.
        checksum/config: {{ include "coffer.wholeEnvironment" . | sha256sum }}
        {{- with $values.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      serviceAccountName: {{ $fullname }}
      {{- include "coffer.podSecurity" (dict "root" .root "userId" (include "coffer.userId" .)) | nindent 6 }}
      {{- with $values.priorityClassName }}
      priorityClassName: {{ . }}
      {{- end }}
      {{- with $values.affinity }}
      affinity:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      terminationGracePeriodSeconds: {{ .row.graceSeconds }}
      topologySpreadConstraints:
        {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
        - maxSkew: 1
          topologyKey: {{ . }}
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels:
              {{- include "coffer.selectorLabels" $scope | nindent 14 }}
          matchLabelKeys:
            - pod-template-hash
        {{- end }}
      containers:
        - name: {{ .name }}
          image: {{ include "coffer.image" . }}
          imagePullPolicy: {{ $values.image.pullPolicy }}
          ports:
            - name: http
              containerPort: {{ include "coffer.whole" $values.ports.public }}
              protocol: TCP
            - name: management
              containerPort: {{ include "coffer.whole" $values.ports.management }}
              protocol: TCP
          env:
            {{- include "coffer.wholeEnvironment" . | nindent 12 }}
          # Until the process listens, the others wait: five minutes, for a node without free CPU.
          startupProbe:
            httpGet:
              path: /livez
              port: management
            periodSeconds: 2
            timeoutSeconds: 2
            failureThreshold: 150
          readinessProbe:
            httpGet:
              path: /readyz
              port: management
            periodSeconds: 5
            timeoutSeconds: 3
            failureThreshold: 2
          livenessProbe:
            httpGet:
              path: /livez
              port: management
            periodSeconds: 10
            timeoutSeconds: 5
            failureThreshold: 6
          lifecycle:
            preStop:
              sleep:
                seconds: {{ include "coffer.preStopSeconds" . }}
          resources:
            {{- toYaml $service.resources | nindent 12 }}
          securityContext:
            {{- include "coffer.serviceContainerSecurity" . | nindent 12 }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ $fullname }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "coffer.labels" $scope | nindent 4 }}
spec:
  maxUnavailable: 1
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      {{- include "coffer.selectorLabels" $scope | nindent 6 }}
{{- if $values.autoscaling.enabled }}
---
{{ include "coffer.horizontalPodAutoscaler" (merge (dict "fullname" $fullname "scope" $scope "service" $service) .) }}
{{- end }}
{{- if $values.autoscaling.keda.enabled }}
---
{{ include "coffer.scaledObject" (merge (dict "fullname" $fullname "scope" $scope "service" $service) .) }}
{{- end }}
{{- if $values.networkPolicy.enabled }}
---
{{ include "coffer.serviceNetworkPolicy" (merge (dict "fullname" $fullname "scope" $scope) .) }}
{{- end }}
{{- end -}}
