import t from "tap";
import { type Exception, findingsIn, compare, readExceptions } from "../src/score.ts";

/** A part of what kube-score prints. */
const printed = JSON.stringify([
  {
    type_meta: { kind: "Deployment" },
    object_meta: { name: "coffer-sync" },
    checks: [
      {
        check: { id: "container-resources" },
        grade: 1,
        skipped: false,
        comments: [{ path: "sync", summary: "CPU limit is not set" }],
      },
      {
        check: { id: "container-memory" },
        grade: 1,
        skipped: true,
        comments: [{ path: "", summary: "Skipped" }],
      },
      { check: { id: "label-values" }, grade: 10, skipped: false, comments: null },
      { check: { id: "pod-networkpolicy" }, grade: 10, skipped: false, comments: [{ path: "", summary: "fine" }] },
    ],
  },
]);

const found = {
  object: "Deployment/coffer-sync",
  check: "container-resources",
  finding: "CPU limit is not set",
  path: "sync",
};
const exception: Exception = { check: found.check, finding: found.finding, reason: "because" };

await t.test("a bad grade that was not skipped is a finding", (t) => {
  t.same(findingsIn(printed), [found]);
  t.end();
});

await t.test("an exception allows its own finding for its own objects, only", (t) => {
  t.same(compare("dev", [found], [exception]), { refused: [], used: new Set([exception]) });
  for (const other of [
    { ...exception, check: "container-image-tag" },
    { ...exception, finding: "Memory limit is not set" },
    { ...exception, objects: "Deployment/coffer" },
    { ...exception, objects: "StatefulSet/coffer-sync" },
    { ...exception, cases: ["production-external"] },
  ])
    t.same(compare("dev", [found], [other]), { refused: [found], used: new Set() });
  t.same(
    compare("dev", [found], [{ ...exception, objects: "(Deployment|StatefulSet)/coffer-(sync|vaults)" }]).refused,
    [],
  );
  t.end();
});

await t.test("each exception of the chart names a check, a finding and a reason, only", (t) => {
  for (const each of readExceptions()) {
    t.ok([each.check, each.finding, each.reason].every((text) => typeof text === "string" && text.length > 3));
    t.same(
      Object.keys(each).filter((key) => !["check", "finding", "objects", "cases", "reason"].includes(key)),
      [],
    );
  }
  t.end();
});
