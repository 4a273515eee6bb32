/**
 * A connection to an API server that is a function of the path.
 */
import type { ApiResponse, Connection } from '../api/connection/types.ts';

export class ScriptedConnection implements Connection {
  readonly kind = 'connection';
  readonly server = 'http://scripted';
  readonly source = 'script';
  readonly paths: string[] = [];
  readonly #answer: (path: string) => unknown;

  /** `answer` gives the JSON of a 200. */
  constructor(answer: (path: string) => unknown) {
    this.#answer = answer;
  }

  async request(path: string): Promise<ApiResponse> {
    this.paths.push(path);
    const octets = Buffer.from(JSON.stringify(this.#answer(path)));
    const body = (async function* () {
      yield octets;
    })();
    return { status: 200, headers: {}, body, discard() {} };
  }

  refreshCredentials(): void {}

  close(): void {}
}
