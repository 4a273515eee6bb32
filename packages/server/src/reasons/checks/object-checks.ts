/**
 * Checks of the objects of a cluster that the caller may read.
 */
import { describeReason, listRemedies } from '../describe-reason.ts';
import type { Check, Finding, PodEvidence, PolicyEvidence } from '../finding.ts';
import type { Reason } from '../reason.ts';

const endpointsNotReady: Check = {
  kind: 'endpoints-not-ready',
  needs: ['services'],
  find: ({ services = [] }) =>
    services.flatMap(({ namespace, name, address, endpoints: { ready, notReady = [] } }) => {
      if (address.kind !== 'headless' || ready.length > 0 || notReady.length === 0) return [];
      const endpoints = notReady.map(({ pod, hostname, address: ip }) => pod ?? hostname ?? ip);
      return [createFinding({ kind: 'endpoints-not-ready', namespace, service: name, endpoints })];
    }),
};

const selectorMatchesNothing: Check = {
  kind: 'selector-matches-nothing',
  needs: ['services', 'pods'],
  find: ({ services = [] }) =>
    services.flatMap(({ namespace, name, selector, selectedPods }) => {
      if (selector === undefined || selector === 'none' || selectedPods !== 0) return [];
      const text = Array.from(selector, ([key, value]) => `${key}=${value}`).join(',');
      return [
        createFinding({ kind: 'selector-matches-nothing', namespace, service: name, selector: text }, 'risk'),
      ];
    }),
};

const hostNetworkPolicy: Check = {
  kind: 'host-network-policy',
  needs: ['pods'],
  find: ({ pods = [] }) =>
    pods
      .filter(({ hostNetwork, dnsPolicy = 'ClusterFirst' }) => hostNetwork && dnsPolicy === 'ClusterFirst')
      .map(({ namespace, name }) => ({
        kind: 'host-network-policy',
        severity: 'risk',
        subject: `${namespace}/${name}`,
        sentence: `pod ${namespace}/${name} uses the network of its node and the policy ClusterFirst, so it asks the servers of the node`,
        remedies: [
          {
            sentence:
              'If it needs names of the cluster, set dnsPolicy: ClusterFirstWithHostNet in its template.',
          },
        ],
      })),
};

const networkPolicy: Check = {
  kind: 'network-policy',
  needs: ['pods', 'policies'],
  find: ({ pods = [], policies = [] }) => {
    const found = new Map<string, Finding>();
    for (const pod of pods) {
      const selecting = policies.filter((policy) => isRestricted(policy, pod));
      if (selecting.length === 0 || pod.hostNetwork) continue;
      const missing = (['udp', 'tcp'] as const).filter(
        (protocol) => !selecting.some(({ allows }) => allows[protocol]),
      );
      if (missing.length === 0) continue;
      const names = selecting.map(({ name }) => name).join(', ');
      const key = `${pod.namespace} ${names} ${missing.join()}`;
      if (!found.has(key)) found.set(key, blockedBy(pod, names, missing));
    }
    return [...found.values()];
  },
};

function isRestricted({ namespace, selects, restrictsEgress }: PolicyEvidence, pod: PodEvidence): boolean {
  return restrictsEgress && namespace === pod.namespace && selects(pod.labels);
}

function blockedBy({ namespace, name }: PodEvidence, policies: string, missing: readonly string[]): Finding {
  const protocols = missing.map((protocol) => protocol.toUpperCase()).join(' and ');
  return {
    kind: 'network-policy',
    severity: missing.includes('udp') ? 'problem' : 'risk',
    subject: `${namespace}: ${policies}`,
    sentence: `network policy ${policies} of namespace ${namespace} selects pods such as ${name}, and none lets ${protocols} to port 53 pass`,
    remedies: [
      {
        sentence: 'Allow egress to port 53 for all pods of the namespace.',
        command: `kubectl apply -f - <<'END'\napiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata:\n  name: allow-dns\n  namespace: ${namespace}\nspec:\n  podSelector: {}\n  policyTypes: [Egress]\n  egress:\n    - ports:\n        - {protocol: UDP, port: 53}\n        - {protocol: TCP, port: 53}\nEND`,
      },
    ],
  };
}

function createFinding(
  reason: Extract<Reason, { readonly namespace: string; readonly service: string }>,
  severity: Finding['severity'] = 'problem',
): Finding {
  return {
    kind: reason.kind,
    severity,
    subject: `${reason.namespace}/${reason.service}`,
    sentence: describeReason(reason),
    remedies: listRemedies(reason),
  };
}

export const OBJECT_CHECKS: readonly Check[] = [
  endpointsNotReady,
  selectorMatchesNothing,
  hostNetworkPolicy,
  networkPolicy,
];
