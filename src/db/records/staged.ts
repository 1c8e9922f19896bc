/** Values as read from the database, and as staged by a unit of work. */

/** Something with a savepoint. */
export interface Savepoint {
  /** Commits the values staged since the last savepoint. */
  commit(): void;
  /** Discards the values staged since the last savepoint. */
  rollback(): void;
}

export class Staged<V> implements Savepoint {
  readonly #read = new Map<string, V>();
  readonly #committed = new Map<string, V>();
  readonly #staged = new Map<string, V>();

  load(key: string, value: V): void {
    this.#read.set(key, value);
  }

  /** Those of these keys whose value has not been read, each once. */
  missing(keys: Iterable<string>): string[] {
    return [...new Set(keys)].filter((key) => !this.#read.has(key));
  }

  /** The current value; undefined if none has been read. */
  get(key: string): V | undefined {
    for (const values of [this.#staged, this.#committed]) if (values.has(key)) return values.get(key);
    return this.#read.get(key);
  }

  set(key: string, value: V): void {
    this.#staged.set(key, value);
  }

  commit(): void {
    for (const [key, value] of this.#staged) this.#committed.set(key, value);
    this.#staged.clear();
  }

  rollback(): void {
    this.#staged.clear();
  }

  /** The committed changes: each key with its value before and after. */
  changes(): { readonly key: string; readonly before: V | undefined; readonly after: V }[] {
    return [...this.#committed].map(([key, after]) => ({ key, before: this.#read.get(key), after }));
  }
}

export class StagedList<T> implements Savepoint {
  readonly committed: T[] = [];
  #staged: T[] = [];

  push(item: T): void {
    this.#staged.push(item);
  }

  commit(): void {
    this.committed.push(...this.#staged);
    this.#staged = [];
  }

  rollback(): void {
    this.#staged = [];
  }
}
