/**
 * Compares the output of `/cache` with the format in which kube-dns prints its tree.
 */
import type { ClusterObject, ServicePort } from '@portolan/kubernetes/objects/objects.ts';
import { AskableCluster } from '@portolan/kubernetes/plugins/kubernetes/testing/askable-cluster.ts';
import { arbitraryObjects } from '@portolan/kubernetes/testing/arbitrary-objects.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

const HTTP: ServicePort = { name: 'http', protocol: 'TCP', port: 80 };
const NAMELESS: ServicePort = { name: '', protocol: 'TCP', port: 8080 };

const OBJECTS: readonly ClusterObject[] = [
  {
    kind: 'Service',
    namespace: 'shop',
    name: 'web',
    address: { kind: 'clusterIPs', addresses: ['10.0.0.1'] },
    ports: [HTTP, NAMELESS],
  },
  { kind: 'Service', namespace: 'shop', name: 'db', address: { kind: 'headless' }, ports: [] },
  {
    kind: 'Endpoints',
    namespace: 'shop',
    name: 'db',
    service: 'db',
    groups: [{ addresses: [{ address: '10.244.1.30', hostname: undefined }], ports: [] }],
  },
  {
    kind: 'Service',
    namespace: 'apps',
    name: 'elsewhere',
    address: { kind: 'externalName', name: 'www.example.com' },
    ports: [],
  },
  { kind: 'Namespace', name: 'empty' },
];

/** As Go's `json.MarshalIndent` writes it, with tabs. */
const EXPECTED = `{
	"ChildNodes": {
		"local": {
			"ChildNodes": {
				"cluster": {
					"ChildNodes": {
						"svc": {
							"ChildNodes": {
								"apps": {
									"ChildNodes": {},
									"Entries": {
										"elsewhere": {
											"host": "www.example.com",
											"priority": 10,
											"weight": 10,
											"ttl": 30
										}
									}
								},
								"shop": {
									"ChildNodes": {
										"db": {
											"ChildNodes": {},
											"Entries": {
												"3334633466336332": {
													"host": "10.244.1.30",
													"priority": 10,
													"weight": 10,
													"ttl": 30
												}
											}
										},
										"web": {
											"ChildNodes": {
												"_tcp": {
													"ChildNodes": {
														"_http": {
															"ChildNodes": {},
															"Entries": {
																"KEY": {
																	"host": "web.shop.svc.cluster.local.",
																	"port": 80,
																	"priority": 10,
																	"weight": 10,
																	"ttl": 30
																}
															}
														}
													},
													"Entries": {}
												}
											},
											"Entries": {
												"KEY": {
													"host": "10.0.0.1",
													"priority": 10,
													"weight": 10,
													"ttl": 30
												}
											}
										}
									},
									"Entries": {}
								}
							},
							"Entries": {}
						}
					},
					"Entries": {}
				}
			},
			"Entries": {}
		}
	},
	"Entries": {}
}`;

function formatCacheTree(objects: readonly ClusterObject[]): string {
  const cluster = new AskableCluster('kube-dns');
  cluster.list(objects);
  return [...cluster.cluster.cacheTree()].join('');
}

interface Tree {
  readonly ChildNodes: Readonly<Record<string, Tree>>;
  readonly Entries: Readonly<Record<string, object>>;
}

const read = (text: string) => JSON.parse(text) as Tree; // Our own text.

describe('the tree of a zone', () => {
  it('is printed as kube-dns does', () => {
    expect(
      formatCacheTree(OBJECTS).replaceAll(/"\w{10,16}": \{\n(\s+"host": "(?:10\.0|web))/g, '"KEY": {\n$1'),
    ).toBe(EXPECTED);
  });

  it('is an empty one where nothing is', () => {
    expect(formatCacheTree([{ kind: 'Namespace', name: 'empty' }])).toBe(
      '{\n\t"ChildNodes": {},\n\t"Entries": {}\n}',
    );
  });

  it('has the hostnames of a headless service, at its ports too', () => {
    const text = formatCacheTree([
      { kind: 'Service', namespace: 'a', name: 'db', address: { kind: 'headless' }, ports: [] },
      {
        kind: 'Endpoints',
        namespace: 'a',
        name: 'db',
        service: 'db',
        groups: [{ addresses: [{ address: '10.1.0.1', hostname: 'db-0' }], ports: [HTTP] }],
      },
    ]);
    const service = ['local', 'cluster', 'svc', 'a', 'db'].reduce<Tree | undefined>(
      (tree, label) => tree?.ChildNodes[label],
      read(text),
    );
    expect(service?.Entries).toEqual({ 'db-0': { host: '10.1.0.1', priority: 10, weight: 10, ttl: 30 } });
    expect(service?.ChildNodes['_tcp']?.ChildNodes['_http']?.Entries).toEqual({
      'db-0': { host: 'db-0.db.a.svc.cluster.local.', port: 80, priority: 10, weight: 10, ttl: 30 },
    });
  });

  it('is JSON with sorted names, every level with its two parts, whatever is in the cluster', () => {
    fc.assert(
      fc.property(arbitraryObjects, (objects) => {
        const text = formatCacheTree(objects);
        expect(JSON.stringify(JSON.parse(text), undefined, '\t')).toBe(text);
        checkLevel(read(text));
      }),
      { numRuns: 50 },
    );
  });
});

function checkLevel(level: Tree): void {
  expect(Object.keys(level)).toEqual(['ChildNodes', 'Entries']);
  expect(Object.keys(level.ChildNodes)).toEqual(Object.keys(level.ChildNodes).toSorted());
  for (const child of Object.values(level.ChildNodes)) checkLevel(child);
}
