/** A function that makes a value for each key on first use, and keeps it as long as the key. */
export function perKey<Key extends object, Made>(make: (key: Key) => Made): (key: Key) => Made {
  const values = new WeakMap<Key, Made>();
  return (key) => {
    const existing = values.get(key);
    if (existing !== undefined) return existing;
    const value = make(key);
    values.set(key, value);
    return value;
  };
}
