/**
 * What each command does, in one sentence without a final full stop, in the order in which `portolan --help` lists them.
 */
export const COMMAND_SUMMARIES = {
  serve: 'serve the zone of a Kubernetes cluster over UDP and TCP',
  'kube-dns': 'serve the zone of a cluster as kube-dns does, with its flags',
  coredns: 'answer by the server blocks of a Corefile, with the flags of CoreDNS',
  'node-cache': 'cache the DNS of a node, as NodeLocal DNSCache does',
  dnsmasq: "forward, cache and answer from local data, with dnsmasq's options",
  'dnsmasq-nanny': 'the same, following the ConfigMap of kube-dns in a folder',
  skydns: 'answer names from the keys of an etcd, as SkyDNS does, with its flags',
  sidecar: 'probe DNS servers, and serve the results and the statistics of dnsmasq by HTTP',
  healthz: 'run commands, and answer HTTP health checks by their results',
  autoscaler: 'keep the replicas of a Deployment in proportion to the nodes and cores of the cluster',
  kube2sky: 'write the Services and pods of a cluster into etcd, for SkyDNS and CoreDNS',
  manifests: 'print the manifests of a cluster DNS, ready for kubectl apply -f -',
  corefile: 'check a Corefile, or make one from the ConfigMap of kube-dns',
  control: 'change the log level and the query log of a running server',
  completion: 'print the completions of a shell: bash, zsh or fish',
  man: 'print the man page',
  systemd: 'print a unit of systemd that runs serve or dnsmasq with given flags',
  version: 'print the version',
} as const;

export type CommandName = keyof typeof COMMAND_SUMMARIES;
