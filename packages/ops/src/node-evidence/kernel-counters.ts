/**
 * Counters of the kernel that say where packets of queries are lost, from the texts below `/proc`.
 */

/** `/proc/net/stat/nf_conntrack`: a row of hexadecimal numbers for each processor, below a row of names. */
export function parseConntrackCounters(text: string): ReadonlyMap<string, number> {
  const [head = '', ...rows] = text.trim().split('\n');
  const names = head.trim().split(/\s+/);
  const sums = new Map<string, number>();
  for (const row of rows)
    for (const [index, digits] of row.trim().split(/\s+/).entries()) {
      const name = names[index];
      const value = Number.parseInt(digits, 16);
      if (name !== undefined && Number.isFinite(value)) sums.set(name, (sums.get(name) ?? 0) + value);
    }
  return sums;
}

/** `/proc/net/snmp`: two rows for each protocol, of names and of numbers. @returns those of UDP */
export function parseUdpCounters(text: string): ReadonlyMap<string, number> {
  const [names = [], values = []] = text
    .split('\n')
    .filter((line) => line.startsWith('Udp:'))
    .map((line) => line.trim().split(/\s+/));
  return new Map(names.slice(1).map((name, index) => [name, Number(values[index + 1] ?? 0)]));
}

/** `/proc/net/snmp6`: a name and a number on each line. @returns those of UDP over IPv6, under the names of UDP */
export function parseUdp6Counters(text: string): ReadonlyMap<string, number> {
  const found = text.matchAll(/^Udp6(\w+)\s+(\d+)\s*$/gm);
  return new Map(Array.from(found, ([, name = '', value]) => [name, Number(value)]));
}
