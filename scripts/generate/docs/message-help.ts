/**
 * What errors and warnings of the log mean, and what to do. `docs/reference/messages.md` is made from it.
 */

/** Messages about one part of the program. */
export interface MessageFamily {
  readonly title: string;
  /** What to do, for messages by their text, with `…` for what differs. */
  readonly help: readonly (readonly [texts: readonly string[], help: string])[];
}

export const MESSAGE_FAMILIES: readonly MessageFamily[] = [
  {
    title: 'Defects of the program',
    help: [
      [['internal error'], 'A query was answered SERVFAIL. Report the line.'],
      [
        ['internal error: relisting'],
        'The program failed at an object, and lists all again. Report the line.',
      ],
      [['query log ended: internal error'], 'Answers go on. Report the line.'],
      [['reader thread died: restarting it'], 'A new one starts. Report the line.'],
      [['the store does not match the API server'], 'All objects are listed again. Report it if it repeats.'],
      [
        ['HTTP request failed', 'names not published', 'packet not answered', 'rejected item not reported'],
        'Report the line.',
      ],
      [
        [
          'another configuration is noted without its changes',
          'failures are kept without their reasons',
          'statistics not kept',
        ],
        'A file of the program cannot be loaded. Install it again.',
      ],
      [
        ['a listener of the cluster watch failed', 'plugin not stopped', 'plugin/…: … failed'],
        'A plugin of others failed, or did not stop in time. Report the line to its author.',
      ],
    ],
  },
  {
    title: 'Answer table',
    help: [
      [
        [
          'answer table full: view not changed',
          'local names not published, the answer table is full',
          'names not published, the answer table is full',
          'names of etcd not published, the answer table is full',
        ],
        'The table has no room for more names. Serve fewer names or objects, and report the line.',
      ],
      [
        ['places of clients not published, the answer table is full'],
        'The same for the ranges of nodes. Clients get the endpoints of all zones.',
      ],
      [
        ['plugin/…: reader threads ask for all names'],
        'A plugin publishes more names than it may, or the table is full. The main thread answers its names.',
      ],
      [
        ['names not published, the object is too large'],
        'A service has too many ports and endpoints. Divide it.',
      ],
      [
        ['more records than a message can carry, answers hold a part of them'],
        'Use fewer endpoints behind one headless service.',
      ],
    ],
  },
  {
    title: 'Start and stop',
    help: [
      [['cannot serve'], 'The server does not start.'],
      [['cannot go on'], 'The role ends.'],
      [['cannot listen on an address that has come up'], 'Stop the server that holds the port.'],
      [
        ['no interface has this address yet', 'warning: interface … does not currently exist'],
        'It is used once it exists.',
      ],
      [
        ['answers may leave from another address than was asked: bind each address by itself'],
        'The host has several addresses. Name each of them with the flag.',
      ],
      [
        ['HTTP port in use, waiting for it'],
        'Stop the process that has the port of health or metrics, or choose another port.',
      ],
      [
        ['--takeover has no effect: ports cannot be shared here'],
        'Stop the old process before you start the new one.',
      ],
      [
        ['sockets not opened'],
        'The cluster is not listed, and another process serves the port. See the lines about the API server.',
      ],
      [
        ['cache not handed over', 'cache not offered', 'cache not taken over'],
        'A new process starts with an empty cache.',
      ],
      [
        ['connections left unaccepted'],
        'Clients that still waited at the stop connect again to another process. Nothing to do.',
      ],
    ],
  },
  {
    title: 'Clients and threads',
    help: [
      [
        ['client floods: most of its packets are dropped'],
        '`client` sends more than its share. Find the pod and correct it.',
      ],
      [
        ['ignoring query from non-local network … (logged only once)'],
        'Leave out `--local-service` if clients of other networks may ask.',
      ],
      [
        ['PROXY header malformed or not allowed: packet dropped'],
        '`proxyproto` does not accept the header. Check the version that `sender` uses (2 for UDP), and `allow`.',
      ],
      [
        ['…: proxyproto changes for UDP at the next start'],
        'The listener has `multisocket`, or begins or ends `udp_session_tracking`. Restart the server; connections follow the new settings at once.',
      ],
      [['… has multisocket: its rules for clients change at the next start'], 'Restart the server.'],
      [
        ['UDP packets cannot be received'],
        'Clients of a reader thread get no answer over UDP. Look at the limits and the seccomp profile of the container.',
      ],
      [
        ['batches of packets not available: serving UDP one packet at a time'],
        'Serving costs more. Use the image, or allow `recvmmsg` and `sendmmsg` in the seccomp profile.',
      ],
      [
        ['a reader serves an address no more'],
        'Its socket failed. Other threads serve on; restart the pod if it repeats.',
      ],
      [['no more readers: one could not be started'], 'The others serve on. Check the memory limit.'],
      [
        ['reader thread not restarted'],
        'The others serve on, and it is tried again. Raise the limit of processes of the container.',
      ],
      [['cannot accept a TCP connection'], 'Raise the limit of open files.'],
      [
        ['HTTP connections closed'],
        'A client holds more HTTP connections than allowed. Find the scraper or probe.',
      ],
      [['HTTP server failed'], 'It goes on.'],
      [
        ['… failed: …', '… took more than 1s: …'],
        "The server's own health page did not answer in time. The server is overloaded or stopping.",
      ],
      [['control request refused'], 'Use the control socket as the user of the server.'],
    ],
  },
  {
    title: 'Cluster',
    help: [
      [
        ['API server cannot be followed'],
        'Names stay as they are. `state` is network, authentication or permission; for `permission`, paste `rule` into the ClusterRole.',
      ],
      [['API version not available, following an older one'], 'Nothing to do.'],
      [
        ['initial sync timed out; serving cached state'],
        'The API server did not list everything in time. Names that are known are served.',
      ],
      [
        ['plugin/kubernetes: starting server with unsynced Kubernetes API'],
        'The API server has not listed everything in time. Names are SERVFAIL until it has.',
      ],
      [
        ['malformed object left out'],
        'An object or manifest cannot be read, and its names are missing. Correct it.',
      ],
      [
        ['alias not followed to its end'],
        'CNAME records form a loop or a long chain. Look at the ExternalName services and rewrites for the name.',
      ],
      [
        ['federation: zone and region of this cluster unknown'],
        'Label the nodes with zone and region, or leave federations out.',
      ],
      [
        ['source lost many names at once, answering them as stale'],
        'Repair the source, or run `portolan control accept`. See [Sudden loss](../explanation/sudden-loss.md).',
      ],
      [['lost names removed'], 'The time of lost names is over, or somebody accepted the loss.'],
      [['finding'], '`finding` names what is wrong. Look it up in [Reasons and findings](reasons.md).'],
      [['events cannot be written'], 'Add the right to create Events, or ignore it.'],
    ],
  },
  {
    title: 'Settings and files',
    help: [
      [
        [
          'blocks-extra not followed',
          'cannot apply change of folder',
          'config in etcd not followed',
          'configuration rejected, keeping the last good one: …',
          'Invalid config: …',
          'more problems with the same configuration',
          'plan not changed',
          'reload failed',
        ],
        'The settings cannot be used. Correct what the line names.',
      ],
      [
        [
          'plugin/reload: Corefile changed but reload failed: starting with listener file descriptors: …',
          'plugin/reload: Corefile parse failed: …',
          'Restart failed: …',
          'SIGUSR1: loading updated Caddyfile: …',
          'SIGUSR1: starting with listener file descriptors: …',
        ],
        'The Corefile cannot be used; the line says why. Run `portolan corefile check`.',
      ],
      [
        ['config in etcd needs a restart'],
        'Restart the server: the changed setting is fixed for the process.',
      ],
      [['no ConfigMap to follow: there is no API server'], 'Give a folder, or leave out `--config-map`.'],
      [['option of dnsmasq'], 'It has no effect. You need not change anything.'],
      [['stub domains have no effect'], "Their names are the cluster's own. Leave them out."],
      [['bad manifest'], 'Correct the `line` of `file`: it is read again when it changes.'],
      [['no manifest can be used, names of the zone are answered SERVFAIL'], 'See `bad manifest`.'],
      [
        ['no manifests found, names are not denied'],
        'Check the path of the folder, or give `--allow-empty`.',
      ],
      [['folder lost, its last state stays'], 'Mount the folder again.'],
      [
        ['folder not there yet, taken as empty', 'hosts file missing, it is waited for'],
        'It is read once it exists.',
      ],
      [
        ['item rejected'],
        'A key, object, file or line was passed over. Correct what `item` and `problem` name; all others are served.',
      ],
      [
        ['invalid line in hosts file ignored', 'more bad lines in hosts file'],
        'Correct the `line`; the others are served.',
      ],
      [
        [
          'cannot read …: …',
          'failed to access …: …',
          'hosts file cannot be read',
          'plugin/auto: …',
          'plugin/file: Failed to open zone "…" in "…": …',
          'resolv.conf not read',
        ],
        'Check the path and the rights of the file.',
      ],
      [
        [
          'cannot save configuration',
          'Could not write pidfile: open …: …',
          'Failed to write config file …: …',
          'plugin/tls: unable to write TLS Key Log: …',
          'query log not written',
          'snapshot not written',
        ],
        'Check the space and the rights of the folder.',
      ],
      [
        ['history not read', 'history not written'],
        'Check the file of `--history-file`. The history is in memory alone.',
      ],
      [
        ['saved configuration ignored', 'snapshot ignored'],
        'The file is damaged, too old, or of another version or cluster. It is written again.',
      ],
      [
        ['changed certificates for upstream servers are not used'],
        'Correct the files. They are read within 10 s.',
      ],
      [['plugin/tls: Keeping the former certificate of …: …'], 'Correct the files.'],
    ],
  },
  {
    title: 'Upstream servers',
    help: [
      [['upstream server down'], 'It does not answer. Query it from the node; check firewall and address.'],
      [['no answer from upstream'], 'See `upstream server down`; `reason` and `detail` say more.'],
      [
        ['forwarding loop: upstream server disabled'],
        'It sends our queries back. Give the server the resolvers of the network, not itself.',
      ],
      [
        [
          'plugin/forward: … names …, which is this server: it is left out, …. Name the servers of the network.',
          'resolv file names this server, which cannot ask itself',
        ],
        'Name the servers of the network in the file or by `--upstream`, or use `dnsPolicy: Default`.',
      ],
      [['ignoring nameserver … - local interface'], 'A resolv file names this server. Nothing to do.'],
      [
        ['no servers found in …, will retry', 'resolv file has no nameserver: keeping the previous ones'],
        'Correct the file; it is read again.',
      ],
      [
        ['line of resolv file left out', 'resolv.conf has bad lines'],
        'Correct the lines; they are left out.',
      ],
      [
        ['resolv.conf names no server', 'warning: no upstream servers configured'],
        'Names outside are refused. Name servers in the file or by a flag.',
      ],
      [['cannot look up an upstream server by its name'], 'Check the name, or give the address.'],
      [
        ['plugin/forward: … does not answer over TCP: asking it over UDP'],
        'A firewall may drop TCP to the server. Allow TCP port 53.',
      ],
      [['plugin/forward: … answers over TCP again'], 'Nothing to do.'],
      [
        ['possible DNS-rebind attack detected'],
        'An upstream server gave a private address for a public name. Add `--rebind-domain-ok` if that is meant.',
      ],
    ],
  },
  {
    title: 'Zones and plugins',
    help: [
      [['plugin/file: Parsing zone "…": …'], 'Correct the line of the zone file; the former zone stays.'],
      [
        ['plugin/auto: Zone "…": …. …', 'plugin/file: Zone "…": …. …'],
        'The zone is served, and a record has no TTL, or clients ignore it. Do what the line says.',
      ],
      [
        ['plugin/file: Failed refresh check …'],
        'The primary server does not answer. The zone stays until it expires.',
      ],
      [
        ["plugin/secondary: All '…' masters failed to transfer, retrying in …: …"],
        'Check the address of the primary server, and its list of allowed clients.',
      ],
      [
        ['plugin/secondary: Skipped … member zones from catalog …: outside configured member zones'],
        'Name these zones behind `catalog` if you want them.',
      ],
      [
        ['plugin/secondary: Skipping catalog member zone … from …: …'],
        'The Corefile or another catalog has the zone, or there are too many.',
      ],
      [
        ['plugin/sign: Error signing "…" with key tags … in …ms: …, next: …'],
        'The zone file is missing, or has the fault that is named. The former signed file stays; correct the file, and the server tries again at the time named.',
      ],
      [
        ['plugin/sign: Error signing "…": failed to move zone file into place: …'],
        'Create the folder of `directory`, and mount it writable.',
      ],
      [['plugin/transfer: …'], 'A transfer or NOTIFY failed. The line says why.'],
      [
        ['plugin/autopath: kubernetes has no "pods verified", so the search lists of pods are unknown'],
        'autopath does nothing. Write `pods verified` into the block of kubernetes, which also watches pods.',
      ],
      [
        ['plugin/autopath: search list of nodes unknown, so none is completed: …: …'],
        'The resolv.conf of the server cannot be read. Clients walk their search lists themselves.',
      ],
      [['plugin/loadbalance: …'], 'Correct the file of weights; the former weights stay.'],
      [
        ['plugin/portolan: discovery: clients do not learn of …: …'],
        'Clients could not use this listener. See [encrypted DNS](../how-to/encrypted-dns.md).',
      ],
      [
        ['addresses not put into a set of nftables'],
        'The set is missing or full, has another type, or the right is missing. Answers are sent unless the rule is closed. See [Sets of nftables](../how-to/nftables-sets.md).',
      ],
    ],
  },
  {
    title: 'Logs, dnstap and traces',
    help: [
      [['plugin/errors: … … …: …'], 'A query failed. The line has its name, its type and the cause.'],
      [
        ['plugin/errors: … more errors in last …'],
        'Errors beyond five a minute are only counted. Look at the lines before.',
      ],
      [['query log incomplete: more queries than lines can be written'], 'Use a sample or a filter.'],
      [['query log not changed'], 'Its file cannot be opened, or its thread did not start. Answers go on.'],
      [
        ['plugin/dnstap: Failed to start dnstap listener: …'],
        'Clients get their answers. Correct the address or the certificate, and start the server again.',
      ],
      [['plugin/dnstap: Error accepting dnstap connection: …'], 'For example, too many files are open.'],
      [
        ['plugin/dnstap: Closed a collector at …: …'],
        'A collector of `dnstap listen` reads too slowly, or does not take the content of dnstap. It may connect again.',
      ],
      [['plugin/dnstap: No connection to dnstap endpoint: …'], 'The receiver is away. It is tried again.'],
      [['plugin/dnstap: Dropped dnstap messages: …'], 'The receiver is too slow. Answers are not lost.'],
      [
        ['otlp: cannot export', 'plugin/trace: spans not sent'],
        'The collector refuses records or cannot be reached, and those of that time are dropped. Check `OTEL_EXPORTER_OTLP_ENDPOINT` or the endpoint of `trace`, and the network policy.',
      ],
      [['otlp: nothing is exported: …'], 'Correct the environment variable, and restart the server.'],
      [
        ['otlp: records dropped, there were too many'],
        'Set `PORTOLAN_OTLP_QUERIES=none`, or give the collector more room.',
      ],
      [
        ['plugin/trace: spans dropped, there were too many'],
        'Trace fewer by `every`, or raise `zipkin_max_backlog_size`.',
      ],
    ],
  },
  {
    title: 'Node cache',
    help: [
      [
        ['no answer at the local addresses: rules removed'],
        "The cache does not answer itself, so pods ask the cluster's DNS. Look at the lines before.",
      ],
      [['no packet filter: rules not set'], 'Install nftables or iptables, or give `-setupiptables=false`.'],
      [
        ['rules of an earlier process removed: nothing is served at the local addresses'],
        'The former process was killed and left its rules. Nothing to do.',
      ],
      [
        ['rules stand while probes over lo are answered: queries of pods take another way'],
        'Give the container NET_RAW, and ask from a pod on this node.',
      ],
      [
        ['addresses added to the loopback interface'],
        'The kernel has no interfaces of type dummy. Nothing to do.',
      ],
      [
        ['Unable to lookup IP address of Upstream service …, env $… `…`'],
        "Create the Service of the cluster's DNS before the DaemonSet.",
      ],
      [['Failed to read node-cache coreFile: no template'], 'Mount the template, or give `-basecorefile`.'],
      [
        ['Did not find TCP upstream block to replace, assuming upstreams already use UDP.'],
        'The template has no `force_tcp`. Nothing to do if that is meant.',
      ],
    ],
  },
  {
    title: 'etcd and programs beside a server',
    help: [
      [
        ['cannot read config from etcd: using flags until it is available'],
        'etcd does not answer at the start.',
      ],
      [
        ['etcd not read yet, serving without it'],
        'etcd does not answer at the start. Its names are SERVFAIL until it does.',
      ],
      [['etcd not followed'], 'Names stay as they are.'],
      [['etcd cannot be written to'], 'kube2sky tries again.'],
      [
        ['version 2 of the API of etcd is deprecated: use -etcd3'],
        'etcd 3.6 does not have this version. Write the keys by version 3, and set `-etcd3`.',
      ],
      [['the autoscaler cannot start'], 'Do what the line says.'],
      [['the default parameters cannot be used'], 'Correct `--default-params`.'],
      [['poll failed'], 'The autoscaler could not read or scale. It tries again.'],
      [
        ['the Lease cannot be acquired or renewed'],
        'The autoscaler may not write its Lease, or the API server is away.',
      ],
      [['cannot read the counters of dnsmasq'], 'Check the address and port of dnsmasq.'],
      [['probe failed'], 'Look at the server that the sidecar asks.'],
      [['command failed'], 'A command of healthz failed or timed out. Look at the part that it checks.'],
    ],
  },
];

export interface ReadinessText {
  readonly text: string;
  /** The file that has its fixed part, and that part. */
  readonly from: readonly [file: string, part: string];
  readonly help: string;
}

const READINESS = 'packages/server/src/readiness.ts';
const STATE = 'packages/kubernetes/src/api/list-watch/state.ts';

/** The bodies of `/readyz`. */
export const READINESS_TEXTS: readonly ReadinessText[] = [
  {
    text: 'starting',
    from: [READINESS, "'starting'"],
    help: 'Wait.',
  },
  {
    text: 'starting: sockets are not open',
    from: [READINESS, 'starting: sockets are not open'],
    help: 'If it lasts, another process has the port.',
  },
  {
    text: 'publishing names',
    from: [READINESS, 'publishing names'],
    help: 'Wait.',
  },
  {
    text: 'KIND: still listing, N so far',
    from: [STATE, 'still listing,'],
    help: 'Wait.',
  },
  {
    text: 'KIND: no connection: …',
    from: [STATE, 'no connection'],
    help: 'Check the address of the API server, the network policy and the firewall.',
  },
  {
    text: 'KIND: connection lost: …',
    from: [STATE, 'connection lost'],
    help: 'It is opened again.',
  },
  {
    text: 'KIND: not authenticated: …',
    from: [STATE, 'not authenticated'],
    help: 'Check the service account or the kubeconfig.',
  },
  {
    text: 'KIND: forbidden: …',
    from: [STATE, 'forbidden'],
    help: 'The log has the rule to paste into the ClusterRole.',
  },
  {
    text: 'KIND: the server failed: …',
    from: [STATE, 'the server failed'],
    help: 'Look at the log of the API server.',
  },
  {
    text: 'KIND: not served: …',
    from: [STATE, 'not served'],
    help: 'Use a supported version of Kubernetes.',
  },
  {
    text: 'manifests: cannot be read: FILE',
    from: ['packages/kubernetes/src/manifests/manifest-source.ts', 'cannot be read'],
    help: 'The log names line and reason.',
  },
  {
    text: 'configmaps: not read yet',
    from: ['packages/server/src/server.ts', 'configmaps: not read yet'],
    help: 'Check that the service account may get and watch the ConfigMap.',
  },
  {
    text: 'etcd: not read yet',
    from: [READINESS, 'etcd: not read yet'],
    help: 'Check the address and certificates of etcd.',
  },
  {
    text: 'UDP packets cannot be received: … of … readers',
    from: [READINESS, 'UDP packets cannot be received: '],
    help: 'Look at the limits and the seccomp profile of the container; the log has the error.',
  },
  {
    text: 'reader threads down: N of M',
    from: [READINESS, 'reader threads down:'],
    help: 'They restart. Report it if it lasts.',
  },
  {
    text: 'OK, then packet filter rules not set: …',
    from: ['packages/frontends/src/coredns/run/coredns-front-end.ts', 'packet filter rules not set:'],
    help: "The node's cache answers, and packets of pods to the Service [pass it by](../how-to/node-local.md#what-it-sets-up-on-the-node).",
  },
  {
    text: 'shutting down',
    from: [READINESS, 'shutting down'],
    help: 'The server answers for the rest of its lameduck time.',
  },
  {
    text: 'ok, then KIND: silent: …',
    from: [STATE, 'silent:'],
    help: 'Answers may be old. The watch is opened again.',
  },
  {
    text: 'ok, then etcd: not followed for …',
    from: [READINESS, 'etcd: not followed for'],
    help: 'Names may be old. Check etcd.',
  },
  {
    text: 'ok, then finding=NAME …',
    from: [READINESS, 'finding='],
    help: 'Look the name up in [Reasons and findings](reasons.md).',
  },
];
