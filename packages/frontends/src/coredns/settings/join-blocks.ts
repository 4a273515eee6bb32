/**
 * `-blocks-extra`: directives of another file, which join the server blocks of the Corefile with the same zone and port, as if they were
 * written at the end of these blocks.
 */
import { readServerKeys, type ServerKey } from '@portolan/corefile/keys/server-key.ts';
import { CorefileFindings } from '@portolan/corefile/syntax/findings.ts';
import type { BlockNode, DirectiveNode } from '@portolan/corefile/syntax/syntax-tree.ts';

/**
 * @param extra The blocks of the other file. One without a block to join is a problem.
 * @returns the blocks of the Corefile, with the directives that join them
 */
export function joinBlocks(
  blocks: readonly BlockNode[],
  extra: readonly BlockNode[],
  defaultPort: number,
  findings: CorefileFindings,
): readonly BlockNode[] {
  // The faults of these keys are found where the blocks are read.
  const joined = blocks.map((block) => ({
    block,
    keys: readServerKeys(block, defaultPort, new CorefileFindings()),
  }));
  for (const other of extra)
    for (const key of readServerKeys(other, defaultPort, findings)) {
      const place = joined.find(({ keys }) => keys.some((each) => isSameKey(each, key)));
      if (place === undefined) refuse(key, findings);
      else if (!hasJoined(place.block, other)) place.block = join(place.block, other);
    }
  return joined.map(({ block }) => block);
}

function isSameKey(one: ServerKey, other: ServerKey): boolean {
  return one.scheme === other.scheme && one.zone === other.zone && one.port === other.port;
}

function refuse({ shown, port, position }: ServerKey, findings: CorefileFindings): void {
  findings.problems.push({
    phase: 'set-up',
    message: `-blocks-extra: no server block to join: ${shown}:${port}`,
    position,
    remedy: 'Name a zone and port of a server block of the Corefile, or write the block there.',
  });
}

/** Two keys may lead to one block. */
function hasJoined(block: BlockNode, other: BlockNode): boolean {
  return [...other.directives].some(([name, { tokens }]) =>
    tokens.some((token) => block.directives.get(name)?.heads.has(token) === true),
  );
}

function join(block: BlockNode, other: BlockNode): BlockNode {
  const directives = new Map(block.directives);
  for (const [name, added] of other.directives) {
    const present = directives.get(name);
    directives.set(name, present === undefined ? added : joinUses(present, added));
  }
  return { ...block, directives };
}

function joinUses(present: DirectiveNode, added: DirectiveNode): DirectiveNode {
  const tokens = [...present.tokens, ...added.tokens];
  return { ...present, tokens, heads: new Set([...present.heads, ...added.heads]) };
}
