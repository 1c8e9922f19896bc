/**
 * Sets an entry of a map as its newest, and removes the oldest one if there are too many: a map keeps its entries in
 * the order in which they were added.
 */
export function setNewest<Value>(map: Map<string, Value>, key: string, value: Value, most: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > most && oldest !== undefined) map.delete(oldest);
}
