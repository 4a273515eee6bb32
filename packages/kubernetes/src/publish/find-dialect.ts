/**
 * The dialects by their names in settings.
 */
import { coreDns } from '../dialects/coredns/dialect.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { kubeDns } from '../dialects/kube-dns/dialect.ts';

const DIALECTS: Readonly<Record<Dialect['name'], Dialect>> = { coredns: coreDns, 'kube-dns': kubeDns };

export function findDialect(name: Dialect['name']): Dialect {
  return DIALECTS[name];
}
