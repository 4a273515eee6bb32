/**
 * Recorded cases of node-cache with intentionally different answers, by name, each with its reason.
 */
export const KNOWN_DIFFERENCES: Readonly<Record<string, string>> = {
  'official-two-ips':
    'The health check listens on the first address; the original writes two words, and does not start.',
  'official-v6-health-unbracketed': 'An IPv6 address gets its brackets; the original does not start.',
  'stub-no-server': 'A domain without servers is left out; the original does not start.',
  'stub-null-server': 'A domain without servers is left out; the original does not start.',
  'stub-port-0': 'Port 0 is an error, as for upstream servers.',
  'map-not-utf8': 'Only the keys that are used must be text.',
  'map-federations-bad': 'Federations are not read, as in kubernetes-sigs/node-local-dns.',
  'map-federations-bad-name': 'Federations are not read, as in kubernetes-sigs/node-local-dns.',
  'output-no-conf':
    'The Corefile is written to /etc/Corefile; the original writes none, and serves its default.',
  'flag-syncinterval-bare': 'A number is seconds.',
  'flag-localip-mixed': 'Addresses of both families are accepted.',
  'flag-localip-mixed-rev': 'Addresses of both families are accepted.',
  'flag-klog-flag': 'The flags of klog are accepted, without effect.',
  'flag-syncinterval-10s': 'A duration is accepted; the original panics after the start.',
  'flag-syncinterval-30s': 'A duration is accepted; the original panics after the start.',
  'run-folder-appears': 'A folder that is missing at the start is followed.',
  'run-bad-at-start-then-good': 'A ConfigMap that is wrong at the start is followed.',
  'run-folder-not-followed': 'Other files beside the template have no effect.',
};
