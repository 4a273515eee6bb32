/**
 * The evidence of checks, from objects as the API server gives them.
 */
import {
  asList,
  asRecord,
  asText,
  type JsonRecord,
  toTextMap,
} from '@portolan/kubernetes/objects/trim/fields.ts';
import type { CheckEvidence, PodEvidence, PolicyEvidence } from '@portolan/server/reasons/finding.ts';
import { flattenObjects, RawEvidence } from './raw-evidence.ts';

/** @param objects objects and lists of objects, such as `kubectl get -o json` prints */
export function readObjectEvidence(
  objects: readonly unknown[],
): Pick<CheckEvidence, 'services' | 'pods' | 'policies'> {
  const raw = new RawEvidence(objects);
  const services = [...raw.services()].flatMap(
    ({ namespace, name }) => raw.findService(namespace, name) ?? [],
  );
  const pods: PodEvidence[] = [];
  const policies: PolicyEvidence[] = [];
  let hasPolicies = false;
  for (const object of flattenObjects(objects)) {
    if (object['kind'] === 'Pod') pods.push(readPod(object));
    if (object['kind'] !== 'NetworkPolicy') continue;
    hasPolicies = true;
    policies.push(readPolicy(object));
  }
  // An empty list has no kind that could be seen, so a client adds the kinds that it has looked at.
  const looked = objects.flatMap((object) => asList(asRecord(object)?.['portolanLookedAt']));
  const has = (kind: string) => looked.includes(kind);
  return {
    services: services.length > 0 || has('services') ? services : undefined,
    pods: raw.hasPods || has('pods') ? pods : undefined,
    policies: hasPolicies || has('networkpolicies') ? policies : undefined,
  };
}

function readMetadata(object: JsonRecord) {
  const metadata = asRecord(object['metadata']);
  return {
    namespace: asText(metadata?.['namespace']) ?? 'default',
    name: asText(metadata?.['name']) ?? '',
    labels: toTextMap(metadata?.['labels']),
  };
}

function readPod(object: JsonRecord): PodEvidence {
  const spec = asRecord(object['spec']);
  return {
    ...readMetadata(object),
    hostNetwork: spec?.['hostNetwork'] === true,
    dnsPolicy: asText(spec?.['dnsPolicy']),
  };
}

function readPolicy(object: JsonRecord): PolicyEvidence {
  const { namespace, name } = readMetadata(object);
  const spec = asRecord(object['spec']) ?? {};
  const types = asList(spec['policyTypes']);
  const egress = asList(spec['egress']);
  // Without types, a policy restricts egress if it has rules for it.
  const restrictsEgress = types.length === 0 ? egress.length > 0 : types.includes('Egress');
  const ports = egress.flatMap(portsOfRule);
  return {
    namespace,
    name,
    restrictsEgress,
    selects: compileSelector(asRecord(spec['podSelector'])),
    allows: { udp: ports.includes('UDP'), tcp: ports.includes('TCP') },
  };
}

/** The protocols that a rule lets pass to port 53; a rule without ports lets all pass. */
function portsOfRule(value: unknown): readonly string[] {
  const rule = asRecord(value);
  const ports = asList(rule?.['ports']);
  if (ports.length === 0) return ['UDP', 'TCP'];
  return ports.flatMap((each) => {
    const port = asRecord(each);
    const number = port?.['port'];
    const end = port?.['endPort'];
    const isNamed = typeof number === 'string';
    const isDns =
      number === undefined ||
      isNamed ||
      (typeof number === 'number' &&
        number <= DNS_PORT &&
        (typeof end === 'number' ? end : number) >= DNS_PORT);
    return isDns ? [asText(port?.['protocol']) ?? 'TCP'] : [];
  });
}

const DNS_PORT = 53;

/** Source: LabelSelector of meta/v1. */
function compileSelector(selector: JsonRecord | undefined): PolicyEvidence['selects'] {
  const labels = toTextMap(selector?.['matchLabels']);
  const expressions = asList(selector?.['matchExpressions']).map((each) => asRecord(each) ?? {});
  return (own) =>
    [...labels].every(([key, value]) => own.get(key) === value) &&
    expressions.every(({ key, operator, values }) => {
      const value = own.get(String(key));
      const isListed = value !== undefined && asList(values).includes(value);
      if (operator === 'In') return isListed;
      if (operator === 'NotIn') return !isListed;
      return operator === 'Exists' ? value !== undefined : value === undefined;
    });
}
