/**
 * A node whose iptables drop unknown packets, and questions from a pod behind an interface of its own: packets of the node itself
 * take another path.
 */
import { LINK_LOCAL, type Scene, SERVICE } from './scene.ts';

/** Programs of one variant and family of iptables. */
export type Variant = 'iptables-nft' | 'iptables-legacy' | 'ip6tables';

/** As a hardened node has it; what is accepted stands before it. */
export const DROP = '-P INPUT DROP';
/** What comes of the questions of a pod where all are answered. */
export const ALL_ANSWERED = ['local', 'service', 'service over TCP'];

/** Lets in what a hardened node lets in, its own packets and answers. @param lines of the program, which drop the rest */
export async function harden({ node }: Scene, program: Variant, ...lines: readonly string[]): Promise<void> {
  const accepted = ['-i lo', '-m conntrack --ctstate ESTABLISHED'];
  // Neighbours are found by it.
  if (program === 'ip6tables') accepted.push('-p ipv6-icmp');
  for (const rule of accepted) await node.run(program, '-A', 'INPUT', ...rule.split(' '), '-j', 'ACCEPT');
  for (const line of lines) await node.run(program, ...line.split(' '));
}

/** Of three questions of a pod those that are answered: link-local by UDP, the Service's address by UDP and TCP. */
export async function askFromPod(
  { node }: Scene,
  pod: readonly string[],
  [local, service]: readonly [string, string] = [LINK_LOCAL, SERVICE],
): Promise<readonly string[]> {
  const questions = { local: [local], service: [service], 'service over TCP': [service, '+tcp'] };
  const answers = await Promise.all(
    Object.entries(questions).map(async ([name, [address, ...options]]) => {
      const words = ['+tries=1', '+time=2', '-p', '36053', `@${address}`, 'a.example', ...options];
      const text = await node.run(...pod, 'dig', ...words).catch(() => '');
      return text.includes('status: NOERROR') ? [name] : [];
    }),
  );
  return answers.flat();
}

/** The rules of a node's cache in iptables. */
export async function rulesOfCache({ node }: Scene, program: Variant): Promise<readonly string[]> {
  return (await node.iptables(program)).filter((rule) => rule.includes('NodeLocal'));
}
