/**
 * A collector of Zipkin on loopback: keeps what it gets, and does to requests what the test says.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface ZipkinSpan {
  readonly traceId: string;
  readonly id: string;
  readonly parentId?: string;
  readonly kind?: string;
  readonly name: string;
  readonly timestamp: number;
  readonly localEndpoint: Readonly<Record<string, string | number>>;
  readonly tags?: Readonly<Record<string, string>>;
  readonly annotations?: readonly { readonly value: string }[];
}

interface ReceivedBatch {
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly spans: readonly ZipkinSpan[];
}

/** A status, or `silence`: no response. */
type Reaction = number | 'silence';

export class ZipkinCollector {
  readonly batches: ReceivedBatch[] = [];
  reaction: Reaction;
  readonly #server: Server;

  private constructor(reaction: Reaction) {
    this.reaction = reaction;
    this.#server = createServer(async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      const spans = JSON.parse(Buffer.concat(parts).toString());
      this.batches.push({ path: request.url ?? '', headers: request.headers, spans });
      if (this.reaction === 'silence') return;
      response.statusCode = this.reaction;
      response.end();
    });
  }

  static async start(reaction: Reaction = 202): Promise<ZipkinCollector> {
    const collector = new ZipkinCollector(reaction);
    await new Promise<void>((resolve) => collector.#server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      collector.#server.closeAllConnections();
      collector.#server.close();
    });
    return collector;
  }

  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get spans(): readonly ZipkinSpan[] {
    return this.batches.flatMap(({ spans }) => spans);
  }

  /** Traces with their first span, which is the last to end. */
  countTraces(): number {
    return this.spans.filter(({ parentId }) => parentId === undefined).length;
  }
}

/** A span with those within it. */
export interface SpanTree {
  readonly name: string;
  readonly kind?: string;
  readonly tags?: Readonly<Record<string, string>>;
  readonly annotations?: readonly string[];
  /** Of the first span of a trace, without its port. */
  readonly endpoint?: Readonly<Record<string, string | number>>;
  readonly within?: readonly SpanTree[];
}

/** The traces in the order of their begin. */
export function growTrees(spans: readonly ZipkinSpan[]): readonly SpanTree[] {
  const inOrder = spans.toSorted((a, b) => a.timestamp - b.timestamp);
  const grow = ({
    traceId,
    id,
    parentId,
    kind,
    name,
    tags,
    annotations,
    localEndpoint,
  }: ZipkinSpan): SpanTree => {
    const { port: _, ...endpoint } = localEndpoint;
    const within = inOrder.filter((each) => each.traceId === traceId && each.parentId === id).map(grow);
    return {
      name,
      ...(kind !== undefined && { kind }),
      ...(tags !== undefined && { tags }),
      ...(annotations !== undefined && { annotations: annotations.map(({ value }) => value) }),
      ...(parentId === undefined && { endpoint }),
      ...(within.length > 0 && { within }),
    };
  };
  return inOrder.filter(({ parentId }) => parentId === undefined).map(grow);
}
