// Where the page is: the part of the address behind #, which says all that is needed to come back.

export interface Place {
  view: string;
  parameters: URLSearchParams;
}

export function parsePlace(hash: string): Place {
  const text = hash.replace(/^#?\/?/, "");
  const at = text.indexOf("?");
  const view = at < 0 ? text : text.slice(0, at);
  return { view: view || "home", parameters: new URLSearchParams(at < 0 ? "" : text.slice(at + 1)) };
}

export function href(view: string, parameters: Record<string, string | string[] | number | undefined>): string {
  const all = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined || value === "") continue;
    for (const one of Array.isArray(value) ? value : [String(value)]) all.append(name, one);
  }
  const text = all.toString();
  return `#/${view}${text ? `?${text}` : ""}`;
}

/** The same place with other parameters; `undefined` takes one away. Going back is offered unless `replace`. */
export function change(place: Place, values: Record<string, string | string[] | undefined>, replace = true): void {
  const parameters = new URLSearchParams(place.parameters);
  for (const [name, value] of Object.entries(values)) {
    parameters.delete(name);
    if (value === undefined || value === "") continue;
    for (const one of Array.isArray(value) ? value : [value]) parameters.append(name, one);
  }
  const text = parameters.toString();
  const hash = `#/${place.view}${text ? `?${text}` : ""}`;
  if (hash === location.hash) return;
  if (replace) {
    history.replaceState(null, "", hash);
    dispatchEvent(new HashChangeEvent("hashchange"));
  } else {
    location.hash = hash;
  }
}
