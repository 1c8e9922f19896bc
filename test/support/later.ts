/** A promise, and the function by which the test fulfils it. */
export function later<T = void>(): readonly [promise: Promise<T>, fulfil: (value: T) => void] {
  let fulfil: (value: T) => void = () => {};
  const promise = new Promise<T>((resolve) => {
    fulfil = resolve;
  });
  return [promise, fulfil];
}
