/** Takes all steps one after the other, letting nobody in between. */
export function runToCompletion<Outcome>(steps: Generator<unknown, Outcome>): Outcome {
  for (let next = steps.next(); ; next = steps.next()) if (next.done === true) return next.value
}
