/**
 * Checks of what the server itself knows. They also make its metric and the notes of its readiness.
 */
import { isIP } from 'node:net';
import { formatElapsed } from '@portolan/kernel/base/duration.ts';
import { describeReason, listRemedies, type Remedy, writeDig } from '../describe-reason.ts';
import type { Check, Finding, ServerEvidence, UpstreamEvidence } from '../finding.ts';
import type { Reason } from '../reason.ts';

/** Milliseconds without news of the API server; a watch gets a bookmark each minute. */
const MAX_AGE = 90_000;
const SILENT: readonly string[] = ['down', 'silent'];
/** Milliseconds: glibc waits for 5 s and musl for 2.5 s, and a name may take several questions. */
const SLOW = 1_000;

function ofServer(kind: Check['kind'], find: (server: ServerEvidence) => readonly Finding[]): Check {
  return { kind, needs: ['server'], find: ({ server }) => (server === undefined ? [] : find(server)) };
}

const upstreamUnreachable = ofServer('upstream-unreachable', ({ upstreams, forwardedDomains }) => {
  const asked = upstreams.filter(({ state }) => state !== 'off');
  const silent = asked.filter(({ state }) => SILENT.includes(state));
  const names = new Set(silent.map(({ server }) => server));
  const dead = forwardedDomains.filter(
    ({ servers }) => servers.length > 0 && servers.every((server) => names.has(server)),
  );
  return silent.map((upstream): Finding => {
    const { server } = upstream;
    const failing = dead.filter(({ servers }) => servers.includes(server)).map(({ domain }) => domain);
    const isProblem = failing.length > 0 || silent.length === asked.length;
    return {
      kind: 'upstream-unreachable',
      severity: isProblem ? 'problem' : 'risk',
      subject: server,
      sentence: `${describeSilence(upstream)}${describeFailing(failing)}`,
      remedies: listSilenceRemedies(server, failing),
    };
  });
});

/** `; all names of down.example fail`, where none of its servers answers. */
function describeFailing(domains: readonly string[]): string {
  if (domains.length === 0) return '';
  if (domains.includes('.')) return '; all names outside of the cluster fail';
  return `; all names of ${domains.map((domain) => domain.replace(/\.$/, '')).join(', ')} fail`;
}

/** A server of a domain may not answer for the root. */
function listSilenceRemedies(server: string, domains: readonly string[]): readonly Remedy[] {
  const [domain = '.'] = domains;
  const remedies = listRemedies({ kind: 'upstream-unreachable', servers: [server] });
  if (domain === '.') return remedies;
  return remedies.map((remedy) => ({ ...remedy, command: writeDig(server, `${domain} SOA`) }));
}

function describeSilence({ server, state, since, lastReply }: UpstreamEvidence): string {
  const duration = since === undefined ? '' : ` for ${formatElapsed(since)}`;
  const reply =
    lastReply === undefined ? 'it has never replied' : `its last reply came ${formatElapsed(lastReply)} ago`;
  return `upstream server ${server} is ${state}${duration}; ${reply}`;
}

const upstreamSlow = ofServer('upstream-slow', ({ upstreams }) =>
  upstreams.flatMap(({ server, state, roundTrip = 0 }) =>
    roundTrip < SLOW || SILENT.includes(state) || state === 'off'
      ? []
      : [
          {
            kind: 'upstream-slow',
            severity: 'risk',
            subject: server,
            sentence: `upstream server ${server} needs ${formatElapsed(roundTrip)} for a reply`,
            remedies: [
              { sentence: 'Query the server from the node.', command: writeDig(server) },
              { sentence: 'If it is as slow there, use another one.' },
            ],
          },
        ],
  ),
);

const forwardingLoop = ofServer('forwarding-loop', ({ upstreams, loopingZones }) => {
  const servers = upstreams.filter(({ state }) => state === 'looping').map(({ server }) => server);
  const zones = loopingZones.map((zone) => `those that zone "${zone}" is forwarded to`);
  return [...servers, ...zones].map((server) =>
    createFinding(server, 'problem', { kind: 'forwarding-loop', servers: [server] }),
  );
});

const dataStale = ofServer('data-stale', ({ dataAge = 0 }) =>
  dataAge < MAX_AGE
    ? []
    : [
        {
          kind: 'data-stale',
          severity: 'problem',
          subject: 'data of the cluster',
          sentence: `the server last heard from the API server ${formatElapsed(dataAge)} ago`,
          remedies: [
            {
              sentence: 'See which kind of object is not followed, and why.',
              command: 'portolan control status',
            },
          ],
        },
      ],
);

const namesLost = ofServer('names-lost', ({ losses }) =>
  losses.map(({ kind, subject, names, of, age, left }) => ({
    kind: 'names-lost',
    severity: 'problem',
    subject: `${kind} of ${subject}`,
    sentence: `of ${of} names, ${names} were lost at once ${formatElapsed(age)} ago; they are answered as stale for ${formatElapsed(left)} more`,
    remedies: [
      { sentence: 'If they were deleted on purpose, accept it.', command: 'portolan control accept' },
      { sentence: 'Otherwise repair the source: the names are current again as soon as it has them.' },
    ],
  })),
);

const apiForbidden = ofServer('api-forbidden', ({ kinds }) =>
  kinds
    .filter(({ words }) => /^(forbidden|not authenticated)\b/.test(words ?? ''))
    .map(({ kind, words = '' }) => ({
      kind: 'api-forbidden',
      severity: 'problem',
      subject: kind,
      sentence: `the server may not list ${kind}: ${words}`,
      remedies: [
        { sentence: 'Apply the ClusterRole and its binding again.' },
        {
          sentence: 'Check what the service account may do.',
          command: `kubectl auth can-i list ${kind} --as=system:serviceaccount:kube-system:SERVICEACCOUNT`,
        },
      ],
    })),
);

/** While the cluster is not listed; later, its data becomes stale. */
const apiUnreachable = ofServer('api-unreachable', ({ kinds }) =>
  kinds
    .filter(({ age, words }) => age === undefined && /^no connection\b/.test(words ?? ''))
    .map(({ kind, words = '' }) => ({
      kind: 'api-unreachable',
      severity: 'problem',
      subject: kind,
      sentence: `the server cannot list ${kind}: ${words}`,
      remedies: [
        { sentence: 'Check the address of the API server, and the way to it from the node of the server.' },
      ],
    })),
);

const configRejected = ofServer('config-rejected', ({ rejected }) =>
  rejected.map((problem) => ({
    kind: 'config-rejected',
    severity: 'problem',
    subject: problem.split(': ', 1)[0] ?? 'configuration',
    sentence: `the latest configuration is not in force: ${problem.replace(/\.$/, '')}`,
    remedies: [{ sentence: 'Correct the configuration. Until then, an earlier one is in force.' }],
  })),
);

/** Fewer denied names may be somebody's test. */
const MIN_FOREIGN = 5;

/** What is seen while somebody watches says more than what was denied before. */
const foreignClusterDomain: Check = {
  kind: 'foreign-cluster-domain',
  needs: ['server'],
  find({ server, traffic }) {
    const asked = traffic?.foreignDomains ?? new Map<string, number>();
    const ofTraffic = Array.from(asked, ([foreign, count]) =>
      foreignDomain(foreign, traffic?.domain ?? '', {
        severity: 'problem',
        sentence: `${count} queries asked for names of the cluster domain ${foreign}`,
      }),
    );
    const served = server?.domains.join(', ') ?? '';
    const ofCounts = Array.from(server?.foreignDomains ?? [])
      .filter(([foreign, count]) => count >= MIN_FOREIGN && !asked.has(foreign))
      .map(([foreign, count]) =>
        foreignDomain(foreign, served, {
          severity: 'risk',
          sentence: `upstream servers denied ${count} names of services in the cluster domain ${foreign}`,
        }),
      );
    return [...ofTraffic, ...ofCounts];
  },
};

function foreignDomain(
  foreign: string,
  served: string,
  { severity, sentence }: Pick<Finding, 'severity' | 'sentence'>,
): Finding {
  return {
    kind: 'foreign-cluster-domain',
    severity,
    subject: foreign,
    sentence: `${sentence}; this server serves ${served}`,
    remedies: listRemedies({ kind: 'foreign-cluster-domain', domain: foreign, served }),
  };
}

/** Milliseconds: a server that starts sets its rules with its first answer. */
const MIN_MISSING = 5_000;

const nodeRulesMissing = ofServer('node-rules-missing', ({ missingRules }) =>
  missingRules === undefined || missingRules.age < MIN_MISSING
    ? []
    : [
        {
          kind: 'node-rules-missing',
          severity: 'risk',
          subject: 'packet filter',
          sentence: `the cache of this node has had no packet filter rules for ${formatElapsed(missingRules.age)}, so queries to the Service pass it by: ${missingRules.reason}`,
          remedies: [
            { sentence: 'Remove the cause: the server then sets the rules within a minute.' },
            { sentence: 'Examine the node.', command: 'portolan doctor --on-node' },
          ],
        },
      ],
);

const externalNameTarget = ofServer('external-name-target', ({ externalNames }) => {
  const targets = new Map(
    externalNames.map(({ name, namespace, domain, target }) => [
      `${name}.${namespace}.svc.${domain}`,
      withFinalDot(target),
    ]),
  );
  return externalNames.flatMap(({ namespace, name, domain, target }) => {
    const problem = problemOfTarget(target, `${name}.${namespace}.svc.${domain}`, targets);
    const about = { kind: 'external-name-target', namespace, service: name, target } as const;
    return problem === undefined
      ? []
      : createFinding(`${namespace}/${name}`, 'problem', { ...about, problem });
  });
});

const fqdnEndpoints = ofServer('fqdn-endpoints', ({ fqdnEndpoints: services }) =>
  services.map(({ namespace, name, target }) => ({
    kind: 'fqdn-endpoints',
    severity: 'risk',
    subject: `${namespace}/${name}`,
    sentence: `service ${namespace}/${name} has an EndpointSlice of addressType FQDN, which Kubernetes deprecates; it leads to ${target}`,
    remedies: [
      { sentence: 'Make the service an ExternalName, or give its slices addresses.' },
      {
        sentence: 'List its slices.',
        command: `kubectl -n ${namespace} get endpointslices -l kubernetes.io/service-name=${name}`,
      },
    ],
  })),
);

const noReverseZone = ofServer('no-reverse-zone', ({ unreversedServices }) => {
  const domains = new Set(unreversedServices.map(({ domain }) => domain));
  return Array.from(domains, (domain) => {
    const [first, ...others] = unreversedServices.filter((service) => service.domain === domain);
    const more = others.length === 0 ? '' : `; so are those of ${others.length} other services`;
    return {
      kind: 'no-reverse-zone',
      severity: 'risk',
      subject: `reverse zones of ${domain}`,
      sentence: `address ${first?.address} of service ${first?.namespace}/${first?.name} is in no reverse zone of the server, so it has no PTR record${more}`,
      remedies: [
        { sentence: 'List the ranges of services.', command: 'kubectl get servicecidrs' },
        {
          sentence:
            'Name all of them behind the domain, as in "kubernetes cluster.local 10.96.0.0/12 10.112.0.0/16", or in-addr.arpa and ip6.arpa.',
        },
      ],
    };
  });
});

function problemOfTarget(
  target: string,
  start: string,
  targets: ReadonlyMap<string, string>,
): 'address' | 'circle' | undefined {
  if (isIP(target.replace(/\.$/, '')) !== 0) return 'address';
  let at = targets.get(start);
  // A circle that does not lead back to the start is found at its own members.
  for (let steps = 0; at !== undefined && steps < targets.size; steps += 1) {
    if (at === start) return 'circle';
    at = targets.get(at);
  }
  return undefined;
}

function withFinalDot(name: string): string {
  return `${name.toLowerCase().replace(/\.$/, '')}.`;
}

function createFinding(subject: string, severity: Finding['severity'], reason: Reason): Finding {
  return {
    kind: reason.kind,
    severity,
    subject,
    sentence: describeReason(reason),
    remedies: listRemedies(reason),
  };
}

export const SERVER_CHECKS: readonly Check[] = [
  upstreamUnreachable,
  upstreamSlow,
  forwardingLoop,
  dataStale,
  namesLost,
  apiForbidden,
  apiUnreachable,
  configRejected,
  nodeRulesMissing,
  externalNameTarget,
  fqdnEndpoints,
  noReverseZone,
  foreignClusterDomain,
];
