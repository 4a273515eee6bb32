{{/*
The Service that pods of the cluster ask, and what is refused because it would take their DNS away. A selector that changes before pods with
its labels are ready leaves the Service without any. Where there is no cluster, as in `helm template`, lookup finds nothing, and only the
values are checked.
*/}}
{{- define "portolan.serviceSelector" -}}
{{- if .Values.service.selector -}}
{{ toYaml .Values.service.selector }}
{{- else if or .Values.service.adopt (not .Values.service.create) -}}
k8s-app: {{ include "portolan.k8sApp" . | quote }}
{{- else -}}
{{ include "portolan.selector" . }}
{{- end -}}
{{- end -}}

{{- define "portolan.checkService" -}}
{{- $values := .Values.service -}}
{{- if .Values.deployment.enabled -}}
{{- if and $values.adopt (not $values.create) -}}
{{- fail "service.adopt needs service.create: leave out one of the two" -}}
{{- end -}}
{{- if and (or $values.adopt (not $values.create)) (not $values.name) -}}
{{- fail "service.name is empty: name the live Service that pods of the cluster ask, such as kube-dns" -}}
{{- end -}}
{{- if $values.adopt -}}
{{- include "portolan.checkSelected" (list . (include "portolan.serviceSelector" . | fromYaml) "service.selector") -}}
{{- end -}}
{{- $services := lookup "v1" "Service" .Release.Namespace "" -}}
{{- if hasKey $services "items" -}}
{{- $live := dict -}}
{{- range $services.items -}}
{{- if eq .metadata.name (include "portolan.service" $) -}}{{- $live = . -}}{{- end -}}
{{- end -}}
{{- if or $values.adopt (not $values.create) -}}
{{- include "portolan.checkLive" (list . $live) -}}
{{- else if $live -}}
{{- include "portolan.checkReplaced" (list . $live) -}}
{{- end -}}
{{- if $values.create -}}
{{- include "portolan.checkAddress" (list . $services.items) -}}
{{- if and (not $values.adopt) .Release.IsInstall -}}
{{- include "portolan.checkOthers" (list . $services.items) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* "true" if labels hold each pair of a selector. Takes a list: the selector, the labels. */}}
{{- define "portolan.selects" -}}
{{- $labels := default dict (index . 1) -}}
{{- $selects := true -}}
{{- range $key, $value := index . 0 -}}
{{- if ne (toString $value) (get $labels $key | toString) -}}{{- $selects = false -}}{{- end -}}
{{- end -}}
{{- if $selects }}true{{ end -}}
{{- end -}}

{{/* Fails if a selector does not select the pods. Takes a list: the context, the selector, what it is. */}}
{{- define "portolan.checkSelected" -}}
{{- $context := index . 0 -}}
{{- $selector := index . 1 -}}
{{- $labels := include "portolan.podLabels" $context | fromYaml -}}
{{- if not $selector -}}
{{- fail (printf "%s is empty: such a Service selects no pod" (index . 2)) -}}
{{- end -}}
{{- if not (include "portolan.selects" (list $selector $labels)) -}}
{{- fail (printf "%s does not select the pods: %s. Give them these labels by podLabels, or k8s-app by k8sAppLabelOverride" (index . 2) (toJson $selector)) -}}
{{- end -}}
{{- end -}}

{{/* A live Service that selects these pods beside those that it selects now. Takes a list: the context, the Service. */}}
{{- define "portolan.checkLive" -}}
{{- $context := index . 0 -}}
{{- $live := index . 1 -}}
{{- $values := $context.Values.service -}}
{{- $name := printf "%s/%s" $context.Release.Namespace $values.name -}}
{{- if $live -}}
{{- $selector := default dict $live.spec.selector -}}
{{- $chosen := include "portolan.serviceSelector" $context | fromYaml -}}
{{- if $values.adopt -}}
{{- $isSame := eq (toJson $chosen) (toJson $selector) -}}
{{- /* An upgrade takes away what a former version has added, and selects more pods. */}}
{{- $isPart := and $context.Release.IsUpgrade (include "portolan.selects" (list $chosen $selector)) -}}
{{- if not (or $isSame $isPart) -}}
{{- fail (printf "the selector of Service %s would change: from %s to %s. Its pods would get no query before others are ready. Set service.selector to the former one" $name (toJson $selector) (toJson $chosen)) -}}
{{- end -}}
{{- else -}}
{{- include "portolan.checkSelected" (list $context $selector (printf "the selector of Service %s" $name)) -}}
{{- end -}}
{{- include "portolan.checkPorts" (list $context $live $name) -}}
{{- else if not $values.create -}}
{{- fail (printf "no such Service: %s. Set service.name to the one that pods of the cluster ask, or service.create to true" $name) -}}
{{- else if not (or $values.clusterIP $values.clusterIPs) -}}
{{- fail (printf "no such Service: %s. Without one to adopt, set service.clusterIP to the clusterDNS of your kubelets" $name) -}}
{{- end -}}
{{- end -}}

{{/* Queries that a live Service sends elsewhere than to the ports of the pods, or to ports of other names. Takes a list: the context, the Service, its name. */}}
{{- define "portolan.checkPorts" -}}
{{- $context := index . 0 -}}
{{- $live := index . 1 -}}
{{- $name := index . 2 -}}
{{- range $port := include "portolan.ports" $context | fromJsonArray -}}
{{- range $other := $live.spec.ports -}}
{{- if and (eq (int $other.port) (int $port.servicePort)) (eq (default "TCP" $other.protocol) $port.protocol) -}}
{{- $target := toString (default $other.port $other.targetPort) -}}
{{- if not (has $target (list (toString (int $port.port)) $port.name)) -}}
{{- fail (printf "Service %s sends queries for its port %d to the port %s of pods: these pods have %d (%s). Set the port of servers to it" $name (int $other.port) $target (int $port.port) $port.name) -}}
{{- end -}}
{{- if and $context.Values.service.adopt (ne (default "" $other.name) $port.name) -}}
{{- fail (printf "the port %d of Service %s would change its name: from %s to %s. Leave the Service as it is, by service.create=false" (int $other.port) $name (default "none" $other.name | quote) $port.name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* A Service of the same name, which gets the selector of this release. Takes a list: the context, the Service. */}}
{{- define "portolan.checkReplaced" -}}
{{- $context := index . 0 -}}
{{- $live := index . 1 -}}
{{- $name := printf "%s/%s" $context.Release.Namespace $live.metadata.name -}}
{{- $policy := get (default dict $live.metadata.annotations) "helm.sh/resource-policy" -}}
{{- $annotations := merge dict $context.Values.service.annotations $context.Values.customAnnotations -}}
{{- if and (eq $policy "keep") (ne (get $annotations "helm.sh/resource-policy" | toString) "keep") -}}
{{- fail (printf "Service %s is an adopted one: without service.adopt=true, helm uninstall would delete it" $name) -}}
{{- end -}}
{{- $chosen := include "portolan.serviceSelector" $context | fromYaml -}}
{{- $former := default dict $live.spec.selector -}}
{{- if not (include "portolan.selects" (list $chosen $former)) -}}
{{- $workload := lookup "apps/v1" $context.Values.kind $context.Release.Namespace (include "portolan.workloadName" $context) -}}
{{- $status := default dict $workload.status -}}
{{- $isReady := gt (int (default (default 0 $status.numberReady) $status.readyReplicas)) 0 -}}
{{- $labels := dig "spec" "template" "metadata" "labels" dict $workload -}}
{{- if not (and $isReady (include "portolan.selects" (list $chosen $labels))) -}}
{{- fail (printf "the selector of Service %s would change before pods with its labels are ready: from %s to %s. To take over a live Service, set service.adopt=true, or leave it as it is by service.create=false" $name (toJson $former) (toJson $chosen)) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* An address belongs to one Service. Takes a list: the context, all Services. */}}
{{- define "portolan.checkAddress" -}}
{{- $context := index . 0 -}}
{{- $values := $context.Values.service -}}
{{- $wanted := compact (concat (list $values.clusterIP) $values.clusterIPs) -}}
{{- range index . 1 -}}
{{- $service := . -}}
{{- range $address := $wanted -}}
{{- if and (ne $address "None") (ne $service.metadata.name (include "portolan.service" $context)) (has $address (default (list $service.spec.clusterIP) $service.spec.clusterIPs)) -}}
{{- fail (printf "the address %s belongs to Service %s/%s. To answer there as well, set service.name=%s and service.create=false (the Service stays as it is) or service.adopt=true" $address $service.metadata.namespace $service.metadata.name $service.metadata.name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* A Service of others that would send its queries to these pods as well. Takes a list: the context, all Services. */}}
{{- define "portolan.checkOthers" -}}
{{- $context := index . 0 -}}
{{- $labels := include "portolan.podLabels" $context | fromYaml -}}
{{- range index . 1 -}}
{{- $isOther := ne .metadata.name (include "portolan.service" $context) -}}
{{- if and $isOther .spec.selector (include "portolan.selects" (list .spec.selector $labels)) -}}
{{- fail (printf "Service %s/%s would send its queries to these pods as well. If they shall answer there, set service.name=%s and service.create=false. If not, set k8sAppLabelOverride=%s" .metadata.namespace .metadata.name .metadata.name (include "portolan.name" $context)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
