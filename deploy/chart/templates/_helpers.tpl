{{/* Names, labels and the image. */}}
{{- define "portolan.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "portolan.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else if contains (include "portolan.name" .) .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "portolan.name" .) | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "portolan.service" -}}
{{- default (include "portolan.fullname" .) .Values.service.name -}}
{{- end -}}

{{- define "portolan.workloadName" -}}
{{- default (include "portolan.fullname" .) .Values.deployment.name -}}
{{- end -}}

{{- define "portolan.serviceAccount" -}}
{{- default (include "portolan.fullname" .) .Values.serviceAccount.name -}}
{{- end -}}

{{- define "portolan.clusterRole" -}}
{{- default (include "portolan.fullname" .) .Values.clusterRole.nameOverride -}}
{{- end -}}

{{- define "portolan.k8sApp" -}}
{{- default "kube-dns" .Values.k8sAppLabelOverride -}}
{{- end -}}

{{- define "portolan.selector" -}}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/name: {{ include "portolan.name" . | quote }}
{{- if .Values.isClusterService }}
k8s-app: {{ include "portolan.k8sApp" . | quote }}
{{- end }}
{{- end -}}

{{/* Labels of the pods. */}}
{{- define "portolan.podLabels" -}}
{{- include "portolan.selector" . }}
{{- with merge dict .Values.podLabels .Values.customLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "portolan.labels" -}}
{{ include "portolan.selector" . }}
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | quote }}
{{- if .Values.isClusterService }}
kubernetes.io/cluster-service: "true"
kubernetes.io/name: {{ ternary "CoreDNS" "KubeDNS" (eq .Values.program "coredns") | quote }}
{{- end }}
{{- with .Values.customLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Metadata of an object. Takes a list: the context, the name, further labels, annotations. */}}
{{- define "portolan.metadata" -}}
{{- $context := index . 0 -}}
name: {{ index . 1 }}
namespace: {{ $context.Release.Namespace }}
labels:
  {{- include "portolan.labels" $context | nindent 2 }}
{{- if gt (len .) 2 }}{{ with index . 2 }}
  {{- toYaml . | nindent 2 }}
{{- end }}{{ end }}
{{- $annotations := dict }}
{{- if gt (len .) 3 }}{{ $annotations = default dict (index . 3) }}{{ end }}
{{- with merge dict $annotations $context.Values.customAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Takes a list: the context, the repository. */}}
{{- define "portolan.image" -}}
{{- $context := index . 0 -}}
{{- $values := $context.Values -}}
{{- $registry := default $values.image.registry $values.global.imageRegistry -}}
{{- $name := index . 1 -}}
{{- if $registry }}{{ $name = printf "%s/%s" $registry $name }}{{ end -}}
{{- if and $values.image.digest (eq (index . 1) $values.image.repository) -}}
{{ printf "%s@%s" $name $values.image.digest }}
{{- else -}}
{{ printf "%s:%s" $name (default $context.Chart.AppVersion $values.image.tag) }}
{{- end -}}
{{- end -}}

{{- define "portolan.isCorefile" -}}
{{- if eq .Values.program "coredns" }}true{{ end -}}
{{- end -}}

{{- define "portolan.metricsPort" -}}
{{- if include "portolan.isCorefile" . }}9153{{ else }}8081{{ end -}}
{{- end -}}

{{/* The Corefile: the text as it is given, or the server blocks. */}}
{{- define "portolan.corefile" -}}
{{- if .Values.corefile -}}
{{ .Values.corefile | trimSuffix "\n" }}
{{- else -}}
{{- range $name, $line := .Values.extraConfig }}
{{- $name }}{{ with $line.parameters }} {{ . }}{{ end }}
{{ end -}}
{{- $domain := .Values.clusterDomain -}}
{{- range $at, $server := .Values.servers }}
{{- if $at }}
{{ end -}}
{{- $port := $server.port -}}
{{- range $zoneAt, $zone := default (list (dict "zone" ".")) $server.zones }}
{{- if $zoneAt }} {{ end }}{{ $zone.scheme }}{{ default "." $zone.zone }}{{ with $port }}:{{ int . }}{{ end }}
{{- end }} {
{{- range $server.plugins }}
{{- $parameters := "" }}
{{- if hasKey . "parameters" }}{{ $parameters = .parameters | toString }}{{ end }}
{{- if eq .name "kubernetes" }}{{ $parameters = $parameters | replace "cluster.local" $domain }}{{ end }}
    {{ .name }}{{ with $parameters }} {{ . }}{{ end }}
{{- with .configBlock }} {
{{ . | trimSuffix "\n" | indent 8 }}
    }
{{- end }}
{{- end }}
}
{{- end }}
{{- end -}}
{{- end -}}

{{/* The ports of DNS, as a JSON list: number, node port, host port, protocol, name. */}}
{{- define "portolan.ports" -}}
{{- $ports := list -}}
{{- if and (include "portolan.isCorefile" .) (not .Values.corefile) -}}
{{- $seen := dict -}}
{{- range .Values.servers -}}
{{- $number := int (default 53 .port) -}}
{{- if not (hasKey $seen (toString $number)) -}}
{{- $_ := set $seen (toString $number) true -}}
{{- $scheme := "" -}}
{{- range .zones }}{{ $scheme = default $scheme .scheme }}{{ end -}}
{{- $plain := or (eq $scheme "") (eq $scheme "dns://") -}}
{{- $names := ternary (list "dns" "dns-tcp") (list (printf "udp-%d" $number) (printf "tcp-%d" $number)) (eq $number 53) -}}
{{- $rest := dict "port" $number "servicePort" (default $number .servicePort) "nodePort" .nodePort "hostPort" .hostPort -}}
{{- if $plain }}{{ $ports = append $ports (merge (dict "name" (index $names 0) "protocol" "UDP") $rest) }}{{ end -}}
{{- $ports = append $ports (merge (dict "name" (index $names 1) "protocol" "TCP") $rest) -}}
{{- end -}}
{{- end -}}
{{- else -}}
{{- $ports = list (dict "name" "dns" "protocol" "UDP" "port" 53 "servicePort" 53) (dict "name" "dns-tcp" "protocol" "TCP" "port" 53 "servicePort" 53) -}}
{{- end -}}
{{- toJson $ports -}}
{{- end -}}

{{/* Takes a list: the values of the probe, its path, its port. */}}
{{- define "portolan.probe" -}}
{{- $probe := index . 0 -}}
httpGet:
  path: {{ index . 1 }}
  port: {{ index . 2 }}
  scheme: HTTP
{{ toYaml (omit $probe "enabled") }}
{{- end -}}
