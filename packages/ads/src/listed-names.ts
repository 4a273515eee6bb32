/**
 * Names of lists and rules: some alone, some with all names below them.
 */
export class ListedNames {
  readonly #names = new Set<string>();
  /** With all names below them. */
  readonly #domains = new Set<string>();

  get size(): number {
    return this.#names.size + this.#domains.size;
  }

  /** @param name in lower case, without a dot at its end */
  add(name: string, withNamesBelow: boolean): void {
    (withNamesBelow ? this.#domains : this.#names).add(name);
  }

  has(name: string): boolean {
    if (this.#names.has(name) || this.#domains.has(name)) return true;
    if (this.#domains.size === 0) return false;
    for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1))
      if (this.#domains.has(name.slice(dot + 1))) return true;
    return false;
  }
}
