import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ManifestError, parseManifest } from './parse-manifest.ts';

const objectsOf = (text: string) => parseManifest('f.yaml', text).objects.map(({ object }) => object);
const linesOf = (text: string) => parseManifest('f.yaml', text).objects.map(({ line }) => line);

function errorOf(text: string): ManifestError {
  try {
    parseManifest('f.yaml', text);
  } catch (error) {
    if (error instanceof ManifestError) return error;
    throw error;
  }
  throw new Error('parsed without complaint');
}

const SERVICE = `apiVersion: v1
kind: Service
metadata: {name: cart, namespace: shop}
spec: {clusterIP: 10.96.0.7, ports: [{name: http, port: 80}]}
`;

describe('what a file may hold', () => {
  it('is several documents, empty ones among them', () => {
    const text = `# first\n---\n${SERVICE}---\n---\n${SERVICE.replace('cart', 'till')}`;
    expect(objectsOf(text)).toMatchObject([
      { kind: 'Service', namespace: 'shop', name: 'cart' },
      { kind: 'Service', namespace: 'shop', name: 'till' },
    ]);
    expect(linesOf(text)).toEqual([3, 9]);
  });

  it('is a List, or a list of one kind whose items do not repeat it', () => {
    const item = `{metadata: {name: a, namespace: n}, spec: {clusterIP: None}}`;
    const text = `apiVersion: v1\nkind: ServiceList\nitems:\n- ${item}\n- ${item.replace('name: a', 'name: b')}\n`;
    expect(objectsOf(text)).toMatchObject([{ name: 'a' }, { name: 'b' }]);
    expect(linesOf(text)).toEqual([4, 5]);
    const list = JSON.stringify({
      apiVersion: 'v1',
      kind: 'List',
      items: [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'x' } }],
    });
    expect(objectsOf(list)).toEqual([{ kind: 'Namespace', name: 'x' }]);
  });

  it('is an EndpointSlice of any version', () => {
    const slice = `apiVersion: discovery.k8s.io/v1beta1
kind: EndpointSlice
metadata: {name: cart-1, namespace: shop, labels: {kubernetes.io/service-name: cart}}
addressType: IPv4
endpoints: [{addresses: [10.244.0.1]}]
ports: [{name: http, port: 8080}]
`;
    expect(objectsOf(slice)).toMatchObject([{ kind: 'Endpoints', service: 'cart', name: 'cart-1' }]);
  });

  it('is put into the namespace default where it names none', () => {
    expect(objectsOf(SERVICE.replace(', namespace: shop', ''))).toMatchObject([{ namespace: 'default' }]);
  });

  it('may be of kinds that mean nothing to DNS', () => {
    const text = `${SERVICE}---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: cart}\n`;
    expect(parseManifest('f.yaml', text).ignoredKinds).toEqual(['Deployment']);
    expect(objectsOf(text)).toHaveLength(1);
  });

  it('uses anchors and merges, as other readers of manifests allow', () => {
    const text = `${SERVICE.replace('spec: {', 'spec: &base {')}---\napiVersion: v1\nkind: List\nitems:
- apiVersion: v1
  kind: Service
  metadata: &meta {namespace: shop, name: one}
  spec: &spec {clusterIP: None}
- apiVersion: v1
  kind: Service
  metadata: {<<: *meta, name: two}
  spec: *spec
`;
    expect(objectsOf(text)).toMatchObject([
      { name: 'cart' },
      { name: 'one' },
      { namespace: 'shop', name: 'two' },
    ]);
  });
});

describe('a bad file is named with its line', () => {
  it.each<[string, string, number, RegExp]>([
    ['broken YAML', `${SERVICE}---\na: [1,\nb: 2\n`, 7, /flow/i],
    ['a scalar', `${SERVICE}---\njust words\n`, 6, /not an object/],
    ['no kind', `${SERVICE}---\napiVersion: v1\n`, 6, /kind is missing/],
    ['no name', `\n${SERVICE.replace('name: cart,', '')}`, 2, /Service: it has no metadata.name/],
    [
      'an item without apiVersion',
      'apiVersion: v1\nkind: List\nitems:\n- kind: Pod\n',
      4,
      /apiVersion is missing/,
    ],
    ['an alias bomb', bomb(), 1, /alias/i],
  ])('%s', (_, text, line, reason) => {
    const error = errorOf(text);
    expect(error.reason).toMatch(reason);
    expect(error.message).toContain(`f.yaml:${error.line}: `);
    expect(error.line).toBe(line);
  });

  it('whatever it holds', () => {
    const piece = fc.oneof(
      fc.constantFrom(...SERVICE.split(/\b/), '---\n', '- ', '&a ', '*a', '<<: '),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        try {
          parseManifest('f.yaml', pieces.join(''));
        } catch (error) {
          expect(error).toBeInstanceOf(ManifestError);
        }
      }),
      { numRuns: 500 },
    );
  });
});

function bomb(): string {
  const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
  for (let level = 1; level < 9; level += 1)
    lines.push(`a${level}: &a${level} [${`*a${level - 1}, `.repeat(10)}]`);
  return `${lines.join('\n')}\n`;
}
