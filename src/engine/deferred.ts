export interface Deferred<Value> {
  readonly promise: Promise<Value>
  resolve(value: Value): void
  reject(reason: Error): void
}

/** A promise and the two functions that settle it. Node 20 has no `Promise.withResolvers`. */
export function deferred<Value>(): Deferred<Value> {
  const settle: Partial<Omit<Deferred<Value>, 'promise'>> = {}
  const promise = new Promise<Value>((resolve, reject) => Object.assign(settle, { resolve, reject }))
  return { promise, resolve: (value) => settle.resolve?.(value), reject: (reason) => settle.reject?.(reason) }
}

/** Runs one act after the other, whatever becomes of the ones before. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve()

  run<Outcome>(act: () => Promise<Outcome>): Promise<Outcome> {
    const done = this.#last.then(act)
    this.#last = done.catch(() => undefined)
    return done
  }
}
