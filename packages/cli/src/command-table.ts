/**
 * All commands, in the order of `portolan --help`. The table is the source of help, completions, the man page, the reference page, the
 * program's other names, and the bundles of `dist/`.
 *
 * Each command is loaded only when it runs, because some run in small containers. `scripts/build.mjs` also reads this table, so its
 * static imports must not load any command.
 */
import type { CommandRow } from './grammar/command.ts';

/** The headings of `portolan --help`, in its order. */
const SERVERS = 'Servers';
const COMPANIONS = 'Beside a server';
const TROUBLESHOOTING = 'Troubleshooting';
const MIGRATION = 'Migration';
const INSTALLATION = 'Installation';
const PROGRAM = 'This program';

const NO_FLAGS = async () => ({ flags: [] });

export const COMMANDS: readonly CommandRow[] = [
  {
    name: 'serve',
    summary: 'serve the zone of a Kubernetes cluster over UDP and TCP',
    group: SERVERS,
    examples: [
      'portolan serve --example --dns-bind-address=127.0.0.1 --dns-port=5300',
      'portolan serve --kubecfg-file=$HOME/.kube/config --dns-port=5300',
      'portolan serve --manifests=./cluster --upstream=none',
    ],
    dashes: '--',
    serves: 'always',
    bundle: 'server',
    isProbed: true,
    takes: async () => ({
      flags: (await import('@portolan/frontends/serve/settings/serve-flags.ts')).SERVE_FLAGS,
    }),
    load: async () => (await import('./servers/serve.ts')).runServe,
  },
  {
    name: 'kube-dns',
    summary: 'serve the zone of a cluster as kube-dns does, with its flags',
    program: 'kube-dns',
    group: SERVERS,
    examples: ['portolan kube-dns --domain=cluster.local. --dns-port=10053 --config-dir=/kube-dns-config'],
    dashes: '--',
    takesKlog: true,
    serves: 'always',
    bundle: 'server',
    isProbed: true,
    takes: async () => {
      const { FURTHER_FLAGS, KUBE_DNS_FLAGS } = await import(
        '@portolan/frontends/kube-dns/settings/kube-dns-flags.ts'
      );
      return { flags: KUBE_DNS_FLAGS, further: { flags: FURTHER_FLAGS, of: 'serve' } };
    },
    load: async () => (await import('./servers/kube-dns.ts')).runKubeDns,
  },
  {
    name: 'coredns',
    summary: 'answer by the server blocks of a Corefile, with the flags of CoreDNS',
    program: 'coredns',
    group: SERVERS,
    examples: ['portolan coredns -conf Corefile'],
    dashes: '-',
    serves: 'always',
    bundle: 'server',
    isProbed: true,
    takes: async () => ({
      flags: (await import('@portolan/frontends/coredns/settings/coredns-flags.ts')).COREDNS_FLAGS,
    }),
    load: async () => (await import('./servers/coredns.ts')).runCoreDns,
  },
  {
    name: 'node-cache',
    summary: 'cache the DNS of a node, as NodeLocal DNSCache does',
    program: 'node-cache',
    group: SERVERS,
    examples: ['portolan node-cache -localip 169.254.20.10 -conf /etc/Corefile'],
    dashes: '-',
    takesKlog: true,
    serves: 'always',
    bundle: 'server',
    isProbed: true,
    takes: async () => ({
      flags: (await import('@portolan/frontends/node-cache/settings/node-cache-flags.ts')).NODE_CACHE_FLAGS,
    }),
    load: async () => (await import('./servers/node-cache.ts')).runNodeCache,
  },
  {
    name: 'dnsmasq',
    summary: "forward, cache and answer from local data, with dnsmasq's options",
    program: 'dnsmasq',
    group: SERVERS,
    examples: [
      'portolan dnsmasq --no-daemon --port=5300 --server=192.0.2.53 --address=/lab.example/192.0.2.1',
    ],
    dashes: '--',
    serves: 'in the foreground',
    bundle: 'server',
    takes: async () => ({
      flags: (await import('@portolan/frontends/dnsmasq/settings/option-flags.ts')).DNSMASQ_FLAGS,
    }),
    load: async () => (await import('./servers/dnsmasq.ts')).runDnsmasq,
  },
  {
    name: 'dnsmasq-nanny',
    summary: 'the same, following the ConfigMap of kube-dns in a folder',
    program: 'dnsmasq-nanny',
    group: SERVERS,
    examples: ['portolan dnsmasq-nanny -configDir /etc/k8s/dns/dnsmasq-nanny -- -k --cache-size=1000'],
    dashes: '-',
    takesKlog: true,
    serves: 'always',
    bundle: 'server',
    takes: async () => ({
      flags: (await import('@portolan/frontends/kube-dns/settings/nanny-flags.ts')).NANNY_FLAGS,
    }),
    load: async () => (await import('./servers/dnsmasq-nanny.ts')).runDnsmasqNanny,
  },
  {
    name: 'skydns',
    summary: 'answer names from the keys of an etcd, as SkyDNS does, with its flags',
    program: 'skydns',
    group: SERVERS,
    examples: ['portolan skydns -addr 127.0.0.1:5300 -domain skydns.local.'],
    dashes: '-',
    takesKlog: true,
    serves: 'always',
    bundle: 'server',
    isProbed: true,
    takes: async () => ({
      flags: (await import('@portolan/frontends/skydns/settings/skydns-flags.ts')).SKYDNS_FLAGS,
    }),
    load: async () => (await import('./servers/skydns.ts')).runSkyDns,
  },
  {
    name: 'sidecar',
    summary: 'probe DNS servers, and serve the results and the statistics of dnsmasq by HTTP',
    program: 'sidecar',
    group: COMPANIONS,
    examples: ['portolan sidecar --probe=kubedns,127.0.0.1:10053,kubernetes.default.svc.cluster.local,5,SRV'],
    dashes: '--',
    takesKlog: true,
    isProbed: true,
    takes: async () => ({
      flags: (await import('@portolan/server/settings/sidecar/sidecar-flags.ts')).SIDECAR_FLAGS,
    }),
    load: async () => (await import('./programs/sidecar.ts')).runSidecar,
  },
  {
    name: 'healthz',
    summary: 'run commands, and answer HTTP health checks by their results',
    program: 'exechealthz',
    group: COMPANIONS,
    examples: ["portolan healthz -port 8080 -cmd 'nslookup kubernetes.default.svc.cluster.local 127.0.0.1'"],
    dashes: '-',
    takesKlog: true,
    isProbed: true,
    takes: async () => ({
      flags: (await import('@portolan/ops/healthz/settings/healthz-flags.ts')).HEALTHZ_FLAGS,
    }),
    load: async () => (await import('./programs/healthz.ts')).runHealthz,
  },
  {
    name: 'autoscaler',
    summary: 'keep the replicas of a Deployment in proportion to the nodes and cores of the cluster',
    program: 'cluster-proportional-autoscaler',
    group: COMPANIONS,
    examples: [
      'portolan autoscaler --namespace=kube-system --target=deployment/coredns --configmap=dns-autoscaler',
    ],
    dashes: '--',
    takesKlog: true,
    takes: async () => {
      const { AUTOSCALER_FLAGS } = await import('@portolan/server/settings/autoscaler/autoscaler-flags.ts');
      const { DECIDE_FLAGS } = await import('@portolan/server/settings/autoscaler/decide-flags.ts');
      return { flags: AUTOSCALER_FLAGS, subcommands: [{ name: 'decide', flags: DECIDE_FLAGS }] };
    },
    load: async () => (await import('./programs/autoscaler.ts')).runAutoscaler,
  },
  {
    name: 'kube2sky',
    summary: 'write the Services and pods of a cluster into etcd, for SkyDNS and CoreDNS',
    program: 'kube2sky',
    group: COMPANIONS,
    examples: ['portolan kube2sky -domain cluster.local -etcd-server http://127.0.0.1:2379'],
    dashes: '-',
    takesKlog: true,
    isProbed: true,
    takes: async () => ({
      flags: (await import('@portolan/ops/kube2sky/settings/kube2sky-flags.ts')).KUBE2SKY_FLAGS,
    }),
    load: async () => (await import('./programs/kube2sky.ts')).runKube2Sky,
  },
  {
    name: 'explain',
    summary: 'say why a name resolves or does not, as a running server answers it',
    group: TROUBLESHOOTING,
    examples: [
      'portolan explain cart.shop --from pay/',
      'portolan explain cart.shop --from pay/client-0 --ask',
      'portolan explain cart.shop --kubeconfig=$HOME/.kube/config',
    ],
    dashes: '--',
    bundle: 'explain',
    takes: async () => ({
      flags: (await import('@portolan/ops/control/settings/control-flags.ts')).EXPLAIN_FLAGS,
    }),
    load: async () => (await import('./tools/explain.ts')).runExplain,
  },
  {
    name: 'doctor',
    summary: 'find what is wrong with a running server and its cluster',
    group: TROUBLESHOOTING,
    examples: [
      'portolan doctor',
      'kubectl get services,endpointslices,pods,networkpolicies -A -o json | portolan doctor --evidence=-',
    ],
    dashes: '--',
    takes: async () => ({
      flags: (await import('@portolan/ops/control/settings/control-flags.ts')).DOCTOR_FLAGS,
    }),
    load: async () => (await import('./tools/doctor.ts')).runDoctor,
  },
  {
    name: 'tail',
    summary: 'show the queries that a running server answers',
    group: TROUBLESHOOTING,
    examples: ['portolan tail --rcode=NXDOMAIN --namespace=shop'],
    dashes: '--',
    takes: async () => ({
      flags: (await import('@portolan/ops/control/settings/control-flags.ts')).TAIL_FLAGS,
    }),
    load: async () => (await import('./tools/tail.ts')).runTail,
  },
  {
    name: 'top',
    summary: 'count the queries that a running server answers, by name, client and namespace',
    group: TROUBLESHOOTING,
    examples: ['portolan top --interval=10s', 'portolan top --once --output=json'],
    dashes: '--',
    takes: async () => ({
      flags: (await import('@portolan/ops/control/settings/control-flags.ts')).TOP_FLAGS,
    }),
    load: async () => (await import('./tools/top.ts')).runTop,
  },
  {
    name: 'ndots',
    summary:
      'show what the search lists of workloads cost, and propose the change that saves most and breaks no name',
    group: TROUBLESHOOTING,
    examples: [
      'portolan ndots --for=5m',
      'kubectl get pods,replicasets,jobs -A -o json | portolan ndots --evidence=-',
      'portolan ndots --output=json > before.json',
      'portolan ndots --before=before.json',
    ],
    dashes: '--',
    takes: async () => ({
      flags: (await import('@portolan/ops/ndots/settings/ndots-flags.ts')).NDOTS_FLAGS,
    }),
    load: async () => (await import('./tools/ndots.ts')).runNdots,
  },
  {
    name: 'dashboard',
    summary: 'show the servers of a cluster in a browser: their health, queries, failures and differences',
    group: TROUBLESHOOTING,
    examples: ['portolan dashboard'],
    dashes: '--',
    takes: async () => ({
      flags: (await import('@portolan/ops/control/settings/dashboard-flags.ts')).DASHBOARD_FLAGS,
    }),
    load: async () => (await import('./tools/dashboard.ts')).runDashboard,
  },
  {
    name: 'control',
    summary: 'ask a running server for its status, or change its logs, cache and upstream servers',
    group: TROUBLESHOOTING,
    examples: [
      'portolan control status',
      'portolan control cache flush example.com',
      'portolan control query-log on zone=shop.svc.cluster.local format=json',
    ],
    dashes: '--',
    takes: async () => {
      const { CONTROL_FLAGS } = await import('@portolan/ops/control/settings/control-flags.ts');
      const { ORDERS } = await import('@portolan/ops/control/settings/control-order.ts');
      return { flags: CONTROL_FLAGS, words: ORDERS };
    },
    load: async () => (await import('./tools/control.ts')).runControl,
  },
  {
    name: 'corefile',
    summary: 'check, explain, format, migrate or survey Corefiles',
    group: MIGRATION,
    examples: [
      'portolan corefile check Corefile',
      'portolan corefile explain www.example.com A --conf=Corefile',
    ],
    dashes: '--',
    takes: async () => ({ flags: [], subcommands: (await import('./tools/corefile.ts')).COREFILE_COMMANDS }),
    load: async () => (await import('./tools/corefile.ts')).runCorefile,
  },
  {
    name: 'preflight',
    summary: 'check whether this program can take the place of the DNS that runs in a cluster',
    group: MIGRATION,
    examples: ['portolan preflight --like=coredns'],
    dashes: '--',
    takes: async () => ({
      flags: (await import('@portolan/ops/preflight/settings/preflight-flags.ts')).PREFLIGHT_FLAGS,
    }),
    load: async () => (await import('./tools/preflight.ts')).runPreflight,
  },
  {
    name: 'swap',
    summary: 'take the place of the DNS that runs in a cluster, watched and with a way back',
    group: MIGRATION,
    examples: [
      'portolan swap --like=coredns --image=registry.example/portolan:0.2.0',
      'portolan swap --like=coredns --back',
    ],
    dashes: '--',
    takes: async () => ({ flags: (await import('@portolan/ops/swap/settings/swap-flags.ts')).SWAP_FLAGS }),
    load: async () => (await import('./tools/swap.ts')).runSwap,
  },
  {
    name: 'compare',
    summary: 'ask two servers the same questions, and report how their answers differ',
    group: MIGRATION,
    examples: ['portolan compare 10.96.0.10 127.0.0.1:5300'],
    dashes: '--',
    takes: async () => ({
      flags: (await import('@portolan/ops/compare/settings/compare-flags.ts')).COMPARE_FLAGS,
    }),
    load: async () => (await import('./tools/compare.ts')).runCompare,
  },
  {
    name: 'shadow',
    summary: 'answer the questions of a running server beside it, and report how the answers differ',
    group: MIGRATION,
    examples: ['portolan shadow --kubeconfig=$HOME/.kube/config --corefile=Corefile'],
    dashes: '--',
    bundle: 'explain',
    takes: async () => ({
      flags: (await import('@portolan/ops/shadow/settings/shadow-flags.ts')).SHADOW_FLAGS,
    }),
    load: async () => (await import('./tools/shadow.ts')).runShadow,
  },
  {
    name: 'diff',
    summary: 'show what changes from one configuration to another, in the plan and in answers',
    group: MIGRATION,
    examples: ['portolan diff Corefile.old Corefile'],
    dashes: '--',
    bundle: 'explain',
    takes: async () => ({ flags: (await import('@portolan/ops/diff/settings/diff-flags.ts')).DIFF_FLAGS }),
    load: async () => (await import('./tools/diff.ts')).runDiff,
  },
  {
    name: 'manifests',
    summary: 'print the manifests of a cluster DNS, ready for kubectl apply -f -',
    group: INSTALLATION,
    examples: [
      'portolan manifests --like=coredns --image=registry.example/portolan:0.2.0 | kubectl apply -f -',
    ],
    dashes: '--',
    takes: async () => ({
      flags: (await import('@portolan/ops/manifests/settings/manifests-flags.ts')).MANIFESTS_FLAGS,
    }),
    load: async () => (await import('./tools/manifests.ts')).runManifests,
  },
  {
    name: 'image',
    summary: 'build an image of this program as an archive, without Docker',
    group: INSTALLATION,
    examples: ['portolan image --target=coredns --output=coredns.tar'],
    dashes: '--',
    takes: async () => ({ flags: (await import('@portolan/ops/image/settings/image-flags.ts')).IMAGE_FLAGS }),
    load: async () => (await import('./tools/image.ts')).runImage,
  },
  {
    name: 'systemd',
    summary: 'print a unit of systemd that runs serve or dnsmasq with given flags',
    group: INSTALLATION,
    examples: ['portolan systemd serve --dns-port=53 > /etc/systemd/system/portolan.service'],
    dashes: '--',
    takes: async () => ({ flags: [], words: (await import('./tools/systemd-unit.ts')).UNIT_COMMANDS }),
    load: async () => (await import('./tools/describe-commands.ts')).runSystemd,
  },
  {
    name: 'completion',
    summary: 'print the completions of a shell: bash, zsh or fish',
    group: PROGRAM,
    examples: ['source <(portolan completion bash)'],
    dashes: '--',
    takes: async () => ({ flags: [], words: (await import('./tools/completion.ts')).SHELLS }),
    load: async () => (await import('./tools/describe-commands.ts')).runCompletion,
  },
  {
    name: 'man',
    summary: 'print the man page',
    group: PROGRAM,
    examples: ['portolan man | man -l -'],
    dashes: '--',
    takes: NO_FLAGS,
    load: async () => (await import('./tools/describe-commands.ts')).runMan,
  },
  {
    name: 'version',
    summary: 'print the version',
    group: PROGRAM,
    dashes: '--',
    takes: NO_FLAGS,
    load: async () => (await import('./tools/describe-commands.ts')).runVersion,
  },
];
