/**
 * What errors and warnings of the log mean, and what to do. `docs/reference/messages.md` is made from it.
 */

/** By the text of the message, with `…` for what differs. */
export const MESSAGE_HELP: Readonly<Record<string, string>> = {
  '--takeover has no effect: ports cannot be shared here':
    'The system cannot share a port between processes. Stop the old process before you start the new one.',
  'a listener of the cluster watch failed':
    'A defect of the plugin that the line names. Report it to the author of the plugin.',
  'a reader serves an address no more':
    'The socket of a reader thread failed. Other threads serve on; restart the pod if it repeats.',
  'addresses not put into a set of nftables':
    'The set of `--nftset` is missing or full, has another type, or the right is missing. `reason` says which, and what to do; answers are sent all the same unless the rule is closed. See [Sets of nftables](../how-to/nftables-sets.md).',
  'addresses added to the loopback interface':
    'The kernel has no interfaces of type dummy, so the addresses of the cache are on `lo`. Nothing to do.',
  'alias not followed to its end':
    'CNAME records form a loop or a long chain. Look at the ExternalName services and rewrites for the name.',
  'answer table full: view not changed':
    'The table has no room for more names. Serve fewer names or objects, and report the line.',
  'answers may leave from another address than was asked: bind each address by itself':
    'The wildcard address serves a host with several addresses. Name each address with the bind flag.',
  'another configuration is noted without its changes':
    'Code of the program could not be loaded. The history says when the configuration came, not what it changed; install the program again.',
  'API server cannot be followed':
    '`state` and `reason` say why: network, authentication or permission. Names stay as they are meanwhile; for `permission`, paste `rule` into the ClusterRole.',
  'API version not available, following an older one':
    'The API server does not serve the newer version of the kind. Nothing to do.',
  'bad manifest':
    'The file cannot be read; `file`, `line` and `reason` name the place. Correct it: it is read again when it changes.',
  'blocks-extra not followed':
    'The file of `--blocks-extra` cannot be used. Correct it; the former blocks stay.',
  'cache not handed over':
    'The new process did not get the cache; it starts with an empty one. `reason` says why.',
  'cache not offered': 'This process cannot hand its cache to a successor. `reason` says why.',
  'cache not taken over': 'The new process starts with an empty cache. `reason` says why.',
  'cannot accept a TCP connection':
    'The system refused, usually for lack of descriptors. Raise the limit of open files.',
  'cannot apply change of folder':
    'A file changed, and the new state cannot be used. The former one stays; `reason` says why.',
  'cannot go on': 'The role ends. `reason` says why, with a remedy.',
  'cannot listen on an address that has come up':
    'An interface has a new address, and its port is in use. Stop the server that holds it.',
  'cannot look up an upstream server by its name':
    'The name of an upstream server does not resolve. Check the name, or give the address.',
  'cannot read config from etcd: using flags until it is available':
    'etcd does not answer at the start. The flags are used until it does.',
  'cannot read the counters of dnsmasq':
    'The sidecar gets no answer from dnsmasq. Check its address and port.',
  'cannot read …: …': 'The file of `--servers-file` cannot be read. Check its path and rights.',
  'cannot save configuration':
    "The last good settings cannot be written beside the snapshot. Check the folder's rights and space.",
  'cannot serve': 'The server does not start. `reason` says why, with a remedy.',
  'PROXY header malformed or not allowed: packet dropped':
    'A packet begins with a header that `proxyproto` does not accept. `sender` names its proxy: check its version (2 for UDP), and `allow`.',
  'changed certificates for upstream servers are not used':
    'The former ones stay in use. `reason` says what is wrong with the files; correct them, and they are read within 10 s.',
  'client floods: most of its packets are dropped':
    'One client sends more than its share. `client` names it: find the pod and correct it.',
  'command failed': "A health check's command failed or timed out. Look at the part that it checks.",
  'config in etcd needs a restart': 'The changed setting is fixed for the process. Restart it.',
  'config in etcd not followed':
    'The settings in etcd cannot be read. The former ones stay; `reason` says why.',
  'configuration rejected, keeping the last good one: …':
    'The ConfigMap has an error. The line names the key and the remedy; correct it.',
  'connections left unaccepted':
    'At the stop, some clients were still waiting to connect; they connect again to another process. Nothing to do.',
  'control request refused':
    'Somebody without the right asked at the control socket. Use the user of the server.',
  'Could not write pidfile: open …: …': 'The file of `-pidfile` cannot be written. Check its folder.',
  'Did not find TCP upstream block to replace, assuming upstreams already use UDP.':
    "The template of the node's cache has no `force_tcp`. Nothing to do if that is meant.",
  'etcd cannot be written to': 'kube2sky cannot write its records. `reason` says why; it tries again.',
  'etcd not followed': 'The watch of etcd ended. Names stay as they are; `reason` says why.',
  'etcd not read yet, serving without it':
    'etcd does not answer at the start. Names from it are SERVFAIL until it does.',
  'events cannot be written': 'The autoscaler may not create Events. Add the right, or ignore it.',
  'failed to access …: …': 'A resolv file cannot be read. Check its path and rights.',
  'Failed to read node-cache coreFile: no template':
    "The template of the node's cache is missing. Mount it, or give `-basecorefile`.",
  'Failed to write config file …: …':
    'The rendered Corefile cannot be written. Check the folder of `-corefile`.',
  'failures are kept without their reasons':
    'Code of the program could not be loaded. Failures are counted all the same; install the program again.',
  'federation: zone and region of this cluster unknown':
    'No node has the labels of zone and region. Label the nodes, or leave federations out.',
  finding:
    'The server found something wrong. `finding` names it: look it up in [Reasons and findings](reasons.md).',
  'folder lost, its last state stays': 'The folder of manifests or settings is gone. Mount it again.',
  'folder not there yet, taken as empty': 'The folder does not exist yet. It is read once it does.',
  'forwarding loop: upstream server disabled':
    'An upstream server sends our queries back. Give the server the resolvers of the network, not itself.',
  'history not read':
    'The file of `--history-file` cannot be read; `reason` says why. The server begins without what it remembered.',
  'history not written':
    'The file of `--history-file` cannot be written; `reason` says why. The history stays in memory.',
  'hosts file cannot be read': 'Check the path and the rights of `file`.',
  'hosts file missing, it is waited for': 'The file does not exist yet. It is read once it does.',
  'reader thread not restarted':
    'The system gives no thread. The server tries again, and the other readers serve on. Raise the limit of processes of the container.',
  'UDP packets cannot be received':
    'Calls of a reader thread fail, and clients that ask it over UDP get no answer. `reason` names the error: look at the limits and the seccomp profile of the container.',
  'HTTP connections closed': 'A client holds more HTTP connections than allowed. Find the scraper or probe.',
  'HTTP port in use, waiting for it':
    'Another process has the port of health or metrics. Stop it, or choose another port.',
  'HTTP request failed': 'A page of the HTTP server failed: a defect of the program. Report it.',
  'HTTP server failed': 'The HTTP server met an error, and goes on. `reason` says which.',
  'ignoring nameserver … - local interface': 'A resolv file names this server. Nothing to do.',
  'ignoring query from non-local network … (logged only once)':
    '`--local-service` refuses clients of other networks. Leave it out if they may ask.',
  'initial sync timed out; serving cached state':
    'The API server did not list everything in time. The names that are known are served; `reason` says what is missing.',
  'internal error': 'A query was answered SERVFAIL because the program failed. Report the line.',
  'internal error: relisting': 'The program failed at an object, and lists all again. Report the line.',
  'Invalid config: …': "The ConfigMap of the node's cache has an error. The line names the key; correct it.",
  'invalid line in hosts file ignored': '`line` names it. Correct it; the other lines are served.',
  'item rejected':
    'A key, object, file or line was passed over; `item` and `problem` name it. Correct it; all others are served.',
  'line of resolv file left out': 'The line has no usable server. Correct it.',
  'lost names removed':
    'Names that a source lost at once are gone now: their time is over, or somebody accepted the loss. See [Sudden loss](../explanation/sudden-loss.md).',
  'local names not published, the answer table is full':
    'The table has no room for more names. Serve fewer names or objects, and report the line.',
  'malformed object left out':
    'An object of the API server or of a manifest cannot be read. Its names are missing; correct it.',
  'more bad lines in hosts file':
    'Further lines of the same file are bad. See `invalid line in hosts file ignored`.',
  'more problems with the same configuration': 'The ConfigMap has further errors. Correct all of them.',
  'more records than a message can carry, answers hold a part of them':
    'A name has too many records for one answer. Use fewer endpoints behind one headless service.',
  'names not published': 'The program failed at the names of an object. Report the line.',
  'places of clients not published, the answer table is full':
    'Clients get the endpoints of all zones. The table has no room for the ranges of nodes; serve fewer names, and report the line.',
  'names not published, the answer table is full':
    'The table has no room for more names. Serve fewer names or objects, and report the line.',
  'names not published, the object is too large': 'One service has too many ports and endpoints. Divide it.',
  'names of etcd not published, the answer table is full':
    'The table has no room for more names. Serve fewer names or objects, and report the line.',
  'no answer at the local addresses: rules removed':
    "The node's cache does not answer itself, so pods ask the cluster's DNS. Look at the lines before.",
  'no answer from upstream':
    'No upstream server answered the question. `reason` and `detail` say why; see `upstream server down`.',
  'no ConfigMap to follow: there is no API server':
    '`--config-map` names a ConfigMap of an API server, and there is none. Give a folder, or leave the flag out.',
  'no interface has this address yet':
    'The address to listen on does not exist yet. It is used once it does.',
  'no manifest can be used, names of the zone are answered SERVFAIL':
    'All manifests are bad. See `bad manifest`.',
  'no manifests found, names are not denied':
    'The folder has no manifest. Check its path, or give `--allow-empty`.',
  'no more readers: one could not be started':
    'A further reader thread did not start. The others serve on; check the memory limit.',
  'no packet filter: rules not set':
    'The node has neither nftables nor iptables for the server. Install one, or give `-setupiptables=false`.',
  'no servers found in …, will retry': 'The resolv file has no server. Correct it; it is read again.',
  'option of dnsmasq': 'An option has no effect here. `reason` says why; you need not change anything.',
  'otlp: cannot export':
    'The collector refused the records or cannot be reached; `reason` says why. DNS is served all the same. Check `OTEL_EXPORTER_OTLP_ENDPOINT` and the network policy; records of that time are dropped.',
  'otlp: nothing is exported: …':
    'An environment variable of OpenTelemetry has a mistake. Correct it and restart the server.',
  'otlp: records dropped, there were too many':
    'More queries failed than the collector takes. Set `PORTOLAN_OTLP_QUERIES=none`, or give the collector more room.',
  'packet not answered': 'A response could not be written. Report the line.',
  'plan not changed': 'The new settings cannot be applied, so the former ones stay. `reason` says why.',
  'plugin not stopped':
    'A defect of the plugin that the line names; the other plugins stop all the same. Report the line with its `reason`.',
  'plugin/…: … failed':
    'A plugin from outside threw an error, or did not stop in time; `reason` says which. Report it to the author of the plugin.',
  'plugin/auto: …': 'A folder or file of zones cannot be read. The line names it.',
  'plugin/autopath: kubernetes has no "pods verified", so the search lists of pods are unknown':
    'autopath does nothing. Write `pods verified` into the block of kubernetes, which also watches pods.',
  'plugin/autopath: search list of nodes unknown, so none is completed: …: …':
    'The resolv.conf of the server cannot be read. Clients walk their search lists themselves.',
  'plugin/dnstap: Closed a collector at …: …':
    'A collector that connects to `dnstap listen` reads too slowly, or does not take the content of dnstap. It may connect again.',
  'plugin/dnstap: Dropped dnstap messages: …':
    'The receiver of dnstap is too slow. Messages are lost, answers are not.',
  'plugin/dnstap: Error accepting dnstap connection: …':
    'The socket of `dnstap listen` could not take a connection, for example for too many open files.',
  'plugin/dnstap: Failed to start dnstap listener: …':
    'Collectors cannot connect, and clients get their answers. Correct the address or the certificate, and start the server again.',
  'plugin/dnstap: No connection to dnstap endpoint: …': 'The receiver of dnstap is away. It is tried again.',
  'plugin/errors: … more errors in last …':
    'Errors beyond five a minute are counted only. Look at the lines before.',
  'plugin/errors: … … …: …': 'A query failed. The line has its name, its type and the cause.',
  'plugin/file: Failed refresh check …':
    'The primary server does not answer. The zone stays until it expires.',
  'plugin/file: Failed to open zone "…" in "…": …':
    'The zone file cannot be read. Check its path and rights.',
  'plugin/auto: Zone "…": …. …':
    'The zone is served, and a record is not what you mean: it has no TTL, or clients ignore it. Do what the line says.',
  'plugin/file: Zone "…": …. …':
    'The zone is served, and a record is not what you mean: it has no TTL, or clients ignore it. Do what the line says.',
  'plugin/file: Parsing zone "…": …': 'The zone file has an error. The former zone stays; correct the line.',
  'plugin/forward: … answers over TCP again': 'The server answers over TCP again. Nothing to do.',
  'plugin/forward: … does not answer over TCP: asking it over UDP':
    'A firewall may drop TCP to the server. Allow TCP port 53.',
  'plugin/forward: … names …, which is this server: it is left out, …. Name the servers of the network.':
    'The resolv.conf of the pod names the server itself. Use `dnsPolicy: Default`, or name the servers.',
  'plugin/kubernetes: starting server with unsynced Kubernetes API':
    'The API server has not listed everything in time. Names are SERVFAIL until it has.',
  'plugin/loadbalance: …': 'The file of weights cannot be used. The former weights stay; the line says why.',
  'plugin/…: reader threads ask for all names':
    'A plugin publishes more names than it may, or the answer table is full. Its names are answered by the main thread.',
  '…: proxyproto changes for UDP at the next start':
    'The listener has `multisocket`, or begins or ends `udp_session_tracking`. Restart the server; connections follow the new settings at once.',
  'source lost many names at once, answering them as stale':
    'A source lacks half of its names, or more. They are answered for a while. Repair the source, or run `portolan control accept`. See [Sudden loss](../explanation/sudden-loss.md).',
  '… has multisocket: its rules for clients change at the next start':
    'Restart the server to apply the new rules.',
  'plugin/portolan: discovery: clients do not learn of …: …':
    'No record leads to this listener, since clients could not use it. The line says why; see [encrypted DNS](../how-to/encrypted-dns.md).',
  'plugin/reload: Corefile changed but reload failed: starting with listener file descriptors: …':
    'The new Corefile cannot be applied. The former one stays; the line says why.',
  'plugin/reload: Corefile parse failed: …':
    'The new Corefile has an error. The former one stays; run `portolan corefile check`.',
  "plugin/secondary: All '…' masters failed to transfer, retrying in …: …":
    'No primary server gave the zone. Check its address and its list of allowed clients.',
  'plugin/secondary: Skipped … member zones from catalog …: outside configured member zones':
    'A catalog zone lists zones outside those that `catalog` names; these are not served. Name them there if you want them.',
  'plugin/secondary: Skipping catalog member zone … from …: …':
    'A zone of a catalog is served already, from the Corefile or from another catalog, or there are too many.',
  'plugin/sign: Error signing "…" with key tags … in …ms: …, next: …':
    'The zone file is missing, or has the fault that is named. The former signed file stays; correct the file, and the server tries again at the time named.',
  'plugin/sign: Error signing "…": failed to move zone file into place: …':
    'The folder of `directory` is missing, or the server may not write to it. Create it, and mount it writable.',
  'plugin/tls: Keeping the former certificate of …: …':
    'The new certificate cannot be used. The line says why; correct the files.',
  'plugin/tls: unable to write TLS Key Log: …':
    'The file of the key log cannot be written. Check its folder.',
  'plugin/trace: spans dropped, there were too many':
    'More queries are traced than the collector takes. Trace fewer by `every`, or raise `zipkin_max_backlog_size`.',
  'plugin/trace: spans not sent':
    'The collector of traces refuses spans or cannot be reached; `reason` says why. DNS is served all the same. Check the endpoint of `trace` and the network policy.',
  'plugin/transfer: …': 'A transfer or NOTIFY failed. The line says why.',
  'poll failed': 'The autoscaler could not read or scale. `reason` says why; it tries again.',
  'possible DNS-rebind attack detected':
    'An upstream server gave a private address for a public name. Add `--rebind-domain-ok` if that is meant.',
  'probe failed': "The sidecar's probe got no good answer. Look at the server that it asks.",
  'query log ended: internal error': 'The query log failed; answers go on. Report the line.',
  'query log incomplete: more queries than lines can be written':
    'Queries came faster than lines can be written. Use a sample or a filter.',
  'query log not changed':
    'A plan has a query log whose file cannot be opened, or the thread of the log did not start. Answers go on.',
  'query log not written': 'The file of the query log cannot be written. Check its space and rights.',
  'reader thread died: restarting it': 'A reader thread failed, and a new one starts. Report the line.',
  'batches of packets not available: serving UDP one packet at a time':
    'The native library could not be loaded, or a sandbox refuses `recvmmsg` or `sendmmsg`. Serving costs more. Use the image, or allow both calls in the seccomp profile.',
  'rejected item not reported': 'A defect of the program. Report the line.',
  'reload failed': 'The settings could not be read again, so the former ones stay. `reason` says why.',
  'resolv file has no nameserver: keeping the previous ones': 'Correct the file; it is read again.',
  'resolv file names this server, which cannot ask itself':
    'Name the servers of the network in the file, or give `--upstream`.',
  'resolv.conf has bad lines': 'The lines are left out. Correct the file.',
  'resolv.conf names no server': 'Names outside are refused. Name servers in the file, or by a flag.',
  'resolv.conf not read': 'The file cannot be read. Check its path and rights.',
  'Restart failed: …': 'The new Corefile cannot be applied. The former one stays; the line says why.',
  'rules of an earlier process removed: nothing is served at the local addresses':
    'The former process was killed and left its rules. Nothing to do.',
  'rules stand while probes over lo are answered: queries of pods take another way':
    'The way of packets of pods cannot be probed; `reason` says why. Give the container NET_RAW, and ask from a pod on this node.',
  'saved configuration ignored':
    'The file of the last good settings is damaged or of another cluster. It is written again.',
  'SIGUSR1: loading updated Caddyfile: …':
    'The Corefile cannot be read. The former one stays; the line says why.',
  'SIGUSR1: starting with listener file descriptors: …':
    'The new Corefile cannot be applied. The former one stays; the line says why.',
  'snapshot ignored':
    'The snapshot is damaged, too old, or of another version or cluster. `reason` says which; it is written again.',
  'snapshot not written': 'Check the space and the rights of the folder of `--snapshot`.',
  'sockets not opened':
    'The cluster is not listed, and another process serves the port: it answers on. Look at the lines about the API server.',
  'statistics not kept':
    'Nothing is counted before somebody runs `top`: a file of the program is missing. Install it again.',
  'stub domains have no effect': "Their names are the cluster's own. Leave them out.",
  'the autoscaler cannot start': '`reason` says why, with a remedy.',
  'the default parameters cannot be used':
    '`--default-params` is not valid. The line names the key; correct it.',
  'the Lease cannot be acquired or renewed':
    'The autoscaler may not write its Lease, or the API server is away. `reason` says which.',
  'the store does not match the API server':
    'A comparison found a difference, and all is listed again. Report it if it repeats.',
  'Unable to lookup IP address of Upstream service …, env $… `…`':
    "The Service of the cluster's DNS is unknown to the node's cache. Create it before the DaemonSet.",
  'upstream server down': 'The server does not answer. Query it from the node; check firewall and address.',
  'version 2 of the API of etcd is deprecated: use -etcd3':
    'etcd 3.6 does not have this version. Write the keys by version 3, and set `-etcd3`.',
  'warning: interface … does not currently exist':
    '`--interface` names one that does not exist yet. It is used once it does.',
  'warning: no upstream servers configured': 'Names outside are refused. Give `--server` or a resolv file.',
  '… failed: …': 'The health page of the server itself did not answer. The server is overloaded or stopping.',
  '… took more than 1s: …': 'The health page of the server itself was slow. The server is overloaded.',
};

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
    help: 'The server has just begun. Wait.',
  },
  {
    text: 'starting: sockets are not open',
    from: [READINESS, 'starting: sockets are not open'],
    help: 'The cluster is listed, and the sockets are not open yet. If it lasts, another process has the port.',
  },
  {
    text: 'publishing names',
    from: [READINESS, 'publishing names'],
    help: 'All objects are listed. Wait.',
  },
  {
    text: 'KIND: still listing, N so far',
    from: [STATE, 'still listing,'],
    help: 'The first list is on its way. Wait.',
  },
  {
    text: 'KIND: no connection: …',
    from: [STATE, 'no connection'],
    help: 'The API server cannot be reached. Check its address, the network policy and the firewall.',
  },
  {
    text: 'KIND: connection lost: …',
    from: [STATE, 'connection lost'],
    help: 'The connection broke. It is opened again by itself.',
  },
  {
    text: 'KIND: not authenticated: …',
    from: [STATE, 'not authenticated'],
    help: 'The token or certificate is refused. Check the service account or the kubeconfig.',
  },
  {
    text: 'KIND: forbidden: …',
    from: [STATE, 'forbidden'],
    help: 'A permission is missing. The log has the rule to paste into the ClusterRole.',
  },
  {
    text: 'KIND: the server failed: …',
    from: [STATE, 'the server failed'],
    help: 'The API server answers with errors. Look at its own log.',
  },
  {
    text: 'KIND: not served: …',
    from: [STATE, 'not served'],
    help: 'The API server does not know the kind. Use a supported version of Kubernetes.',
  },
  {
    text: 'manifests: cannot be read: FILE',
    from: ['packages/kubernetes/src/manifests/manifest-source.ts', 'cannot be read'],
    help: 'The file is bad. The log names line and reason.',
  },
  {
    text: 'configmaps: not read yet',
    from: ['packages/server/src/server.ts', 'configmaps: not read yet'],
    help: 'The ConfigMap has not been read. Check that the service account may get and watch it.',
  },
  {
    text: 'etcd: not read yet',
    from: [READINESS, 'etcd: not read yet'],
    help: 'etcd has not answered. Check its address and certificates.',
  },
  {
    text: 'UDP packets cannot be received: … of … readers',
    from: [READINESS, 'UDP packets cannot be received: '],
    help: 'Calls of reader threads fail. The log has the error: look at the limits and the seccomp profile of the container.',
  },
  {
    text: 'reader threads down: N of M',
    from: [READINESS, 'reader threads down:'],
    help: 'A reader thread failed and restarts. Report it if it lasts.',
  },
  {
    text: 'OK, then packet filter rules not set: …',
    from: ['packages/frontends/src/coredns/run/coredns-front-end.ts', 'packet filter rules not set:'],
    help: 'The cache of the node answers, and packets of pods to the Service pass it by. See [Run a DNS cache on every node](../how-to/node-local.md#what-it-sets-up-on-the-node).',
  },
  {
    text: 'shutting down',
    from: [READINESS, 'shutting down'],
    help: 'The server was told to stop, and answers for the rest of its lameduck time.',
  },
  {
    text: 'ok, then KIND: silent: …',
    from: [STATE, 'silent:'],
    help: 'Answers may be old: the API server has sent nothing for a while. The watch is opened again by itself.',
  },
  {
    text: 'ok, then etcd: not followed for …',
    from: [READINESS, 'etcd: not followed for'],
    help: 'Names from etcd may be old. Check etcd.',
  },
  {
    text: 'ok, then finding=NAME …',
    from: [READINESS, 'finding='],
    help: 'Queries are answered, and something is wrong. Look the name up in [Reasons and findings](reasons.md).',
  },
];
