/** A module of the build, with the hash of its content. */
export interface LinkedModule {
  path: string;
  integrity: string;
}

/**
 * Loads a module that the page does not start with. The policy of the page refuses a script without a hash, which
 * `import()` cannot give: the link before it can, and `import()` takes what the link has loaded.
 */
export async function loadModule<Module>(linked: LinkedModule | undefined): Promise<Module> {
  if (linked === undefined) throw new Error("the build has no such module");
  const link = document.createElement("link");
  link.rel = "modulepreload";
  link.href = linked.path;
  link.integrity = linked.integrity;
  await new Promise((resolve, reject) => {
    link.onload = resolve;
    link.onerror = () => reject(new Error(`${linked.path} cannot be loaded`));
    document.head.append(link);
  });
  return (await import(linked.path)) as Module; // the build writes its path
}
