"""Do people understand the topics? Word lists and document groups, beside those of other libraries, from raw text.

    python bench/quality/run.py --corpus reuters --topics 20 --seeds 0 1 2      runs cells, and adds them to results.jsonl
    python bench/quality/run.py --check-gensim                                  compares our NPMI and C_V with gensim's
    python bench/quality/run.py --write                                         makes docs/results/quality.md of results.jsonl

It reads the corpora in GIBBSTREAM_DATA (folders with docs.jsonl.zst) and runs the program in GIBBSTREAM_PROGRAM. Needs
scikit-learn, tomotopy, gensim and zstandard. Everybody gets the same raw text and its usual way to read it: ours all defaults, the
others CountVectorizer or TfidfVectorizer with English stop words, min_df=5 and max_df=0.5.
"""

import argparse
import io
import itertools
import json
import math
import os
import resource
import subprocess
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
import scipy.sparse as sp
import zstandard
from sklearn.decomposition import NMF, LatentDirichletAllocation
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import normalized_mutual_info_score

HERE = Path(__file__).parent
RESULTS = HERE / "results.jsonl"
PAGE = HERE.parent.parent / "docs" / "results" / "quality.md"
DATA = Path(os.environ.get("GIBBSTREAM_DATA", "data"))
PROGRAM = os.environ.get("GIBBSTREAM_PROGRAM", "gibbstream")
TOP = 10
# Corpora, and their first documents, on which defaults were chosen; all others are for reporting.
CHOSEN_ON = {("reuters", 0), ("imdb", 40_000)}
# Documents with a label that so many others have are grouped.
LEAST_LABELLED = 20


def corpus(name: str, first: int, most: int | None) -> tuple[list[str], list[str | None]]:
    """Texts from the document `first` on, and the label of each, where it has exactly one."""
    texts, labels = [], []
    with open(DATA / name / "docs.jsonl.zst", "rb") as file:
        lines = io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(file), encoding="utf-8")
        for line in itertools.islice(lines, first, None):
            record = json.loads(line)
            texts.append(record["text"])
            topics = record.get("topics", [])
            label = topics[0] if len(topics) == 1 else None
            if name == "imdb":  # ids end in the rating; 0 is none
                rating = int(record["id"].rsplit("_", 1)[1])
                label = None if rating == 0 else "good" if rating > 5 else "bad"
            labels.append(label)
            if len(texts) == most:
                break
    common = Counter(label for label in labels if label)
    return texts, [label if label and common[label] >= LEAST_LABELLED else None for label in labels]


class Reference:
    """Documents in which words of topics are looked for: the words of the peers' vectorizer, in their order."""

    def __init__(self, texts: list[str], vectorizer: CountVectorizer) -> None:
        analyze, self.ids = vectorizer.build_analyzer(), vectorizer.vocabulary_
        self.documents = [[self.ids[word] for word in analyze(text) if word in self.ids] for text in texts]

    def together(self, words: set[int], window: int) -> tuple[np.ndarray, dict[int, int], int]:
        """In how many windows pairs of words are, the place of each word, and the number of windows."""
        places = {word: place for place, word in enumerate(sorted(words))}
        rows, columns, first = [], [], 0
        for tokens in self.documents:
            windows = max(1, len(tokens) - window + 1)
            for at, word in enumerate(tokens):
                if (place := places.get(word)) is not None:
                    seen = range(max(0, at - window + 1), min(at, windows - 1) + 1)
                    rows.extend(first + start for start in seen)
                    columns.extend([place] * len(seen))
            first += windows
        found = sp.csr_matrix((np.ones(len(rows), np.float32), (rows, columns)), shape=(first, len(places)))
        found.sum_duplicates()
        found.data[:] = 1
        return (found.T @ found).toarray(), places, first

    def coherence(self, topics: list[list[str]]) -> dict[str, float]:
        """Means over topics of NPMI and C_V as gensim defines them.

        Words that the vectorizer drops are left out, and counted. `npmi_strict` is the NPMI if every pair with such a word counts as
        one that never meets (-1).
        """
        missing = sum(word not in self.ids for topic in topics for word in topic)
        known = [[self.ids[word] for word in topic if word in self.ids] for topic in topics]
        words = {word for topic in known for word in topic}
        npmi, c_v = ([], [])
        for window, values in ((10, npmi), (110, c_v)):
            counts, places, windows = self.together(words, window)
            for topic in known:
                table = npmi_table(topic, counts, places, windows)
                if window == 10:
                    values.append(table[np.triu_indices(len(topic), 1)].mean())
                else:
                    whole = table.sum(axis=0)
                    values.append(np.mean([row @ whole / (np.linalg.norm(row) * np.linalg.norm(whole)) for row in table]))
        pairs = [(math.comb(len(left), 2), math.comb(len(topic), 2)) for left, topic in zip(known, topics, strict=True)]
        strict = [(value * left - (all_pairs - left)) / all_pairs for value, (left, all_pairs) in zip(npmi, pairs, strict=True)]
        scores = {"npmi": npmi, "npmi_strict": strict, "c_v": c_v}
        return {name: float(np.mean(values)) for name, values in scores.items()} | {"missing_words": missing}


def npmi_table(topic: list[int], counts: np.ndarray, places: dict[int, int], windows: int) -> np.ndarray:
    """NPMI of all pairs of words of a topic."""
    table = np.full((len(topic), len(topic)), -1.0)
    for i, a in enumerate(topic):
        for j, b in enumerate(topic):
            x, y = places[a], places[b]
            both = counts[x, y] / windows
            alone = counts[x, x] / windows * counts[y, y] / windows
            table[i, j] = np.log((both + 1e-12) / alone) / -np.log(both + 1e-12) if alone > 0 else -1.0
    return table


def groups(labels: list[str | None], assigned: np.ndarray, mixtures: np.ndarray) -> dict[str, float]:
    """How well groups agree with labels, and how well mixtures predict them on every second labelled document."""
    chosen = np.array([place for place, label in enumerate(labels) if label is not None])
    if len(chosen) == 0:
        return {}
    truth, found = np.array([labels[place] for place in chosen]), assigned[chosen]
    most = sum(max(Counter(truth[found == group]).values()) for group in set(found))
    model = LogisticRegression(max_iter=300).fit(np.sqrt(mixtures[chosen[::2]]), truth[::2])
    return {
        "nmi": float(normalized_mutual_info_score(truth, found)),
        "purity": most / len(chosen),
        "accuracy": float(model.score(np.sqrt(mixtures[chosen[1::2]]), truth[1::2])),
    }


def ours(texts: list[str], topics: int, seed: int, flags: list[str]) -> tuple[list[list[str]], np.ndarray, np.ndarray]:
    """The program with its defaults, and with other flags of `train` if they are asked for."""
    with tempfile.TemporaryDirectory() as folder:
        path, model = Path(folder) / "docs.jsonl", f"{folder}/m.gbs"
        path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), encoding="utf-8")
        run = lambda *line: subprocess.run([PROGRAM, *line, "-q"], check=True, capture_output=True, text=True).stdout
        run("train", str(path), "--topics", str(topics), "--seed", str(seed), "--threads", "1", "--out", model, *flags)
        shown = json.loads(run("topics", model, "--json", "--words", str(TOP)))["topics"]
        lines = [json.loads(line) for line in run("infer", model, str(path), "--assign", "--threads", "1").splitlines()]
    words = [[word["word"] for word in topic["words"]] for topic in shown]
    return words, np.array([line["topic"] for line in lines]), np.array([line["theta"] for line in lines])


def best(table: np.ndarray, names: np.ndarray) -> list[list[str]]:
    """The words of largest weight of each topic."""
    return [list(names[np.argsort(-row, kind="stable")[:TOP]]) for row in table]


def nmf(counts: sp.csr_matrix, names: np.ndarray, topics: int, seed: int) -> tuple:
    """scikit-learn's NMF of tf-idf."""
    model = NMF(topics, random_state=seed, init="nndsvda")
    weights = model.fit_transform(TfidfTransformer().fit_transform(counts))
    mixtures = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-12)
    return best(model.components_, names), mixtures.argmax(axis=1), mixtures


def sklearn_lda(counts: sp.csr_matrix, names: np.ndarray, topics: int, seed: int) -> tuple:
    """scikit-learn's LDA."""
    model = LatentDirichletAllocation(topics, random_state=seed)
    mixtures = model.fit_transform(counts)
    return best(model.components_, names), mixtures.argmax(axis=1), mixtures


def tomotopy(counts: sp.csr_matrix, names: np.ndarray, topics: int, seed: int) -> tuple:
    """tomotopy's LDA, 200 sweeps."""
    import tomotopy as tp

    model = tp.LDAModel(k=topics, seed=seed + 1)
    known = []
    for row in range(counts.shape[0]):
        part = slice(counts.indptr[row], counts.indptr[row + 1])
        words = np.repeat(names[counts.indices[part]], counts.data[part])
        if len(words) > 0:
            known.append(row)
            model.add_doc(list(words))
    model.train(200, workers=1)
    mixtures = np.full((counts.shape[0], topics), 1 / topics)
    for row, document in zip(known, model.docs, strict=True):
        mixtures[row] = document.get_topic_dist()
    return [[word for word, _ in model.get_topic_words(k, top_n=TOP)] for k in range(topics)], mixtures.argmax(axis=1), mixtures


def gensim_lda(counts: sp.csr_matrix, names: np.ndarray, topics: int, seed: int) -> tuple:
    """gensim's LDA, ten passes."""
    from gensim.matutils import Sparse2Corpus
    from gensim.models import LdaModel

    documents = Sparse2Corpus(counts, documents_columns=False)
    model = LdaModel(documents, topics, dict(enumerate(names)), passes=10, alpha="auto", random_state=seed)
    mixtures = np.zeros((counts.shape[0], topics))
    for row, mixture in enumerate(model.get_document_topics(documents, minimum_probability=0)):
        for topic, share in mixture:
            mixtures[row, topic] = share
    return best(model.get_topics(), names), mixtures.argmax(axis=1), mixtures


PEERS = {"scikit-learn NMF": nmf, "tomotopy": tomotopy, "scikit-learn LDA": sklearn_lda, "gensim": gensim_lda}


def cpu_seconds() -> float:
    """Of this process and of those that it started."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def cells(arguments: argparse.Namespace) -> None:
    """Runs the cells that were asked for."""
    texts, labels = corpus(arguments.corpus, arguments.first, arguments.documents)
    flags = arguments.flags.split()
    vectorizer = CountVectorizer(stop_words="english", min_df=5, max_df=0.5)
    counts = vectorizer.fit_transform(texts).tocsr()
    names, reference = vectorizer.get_feature_names_out(), Reference(texts, vectorizer)
    for topics in arguments.topics:
        for library in arguments.libraries:
            for seed in arguments.seeds[:1] if library == "scikit-learn NMF" else arguments.seeds:
                before = cpu_seconds()
                if library == "gibbstream":
                    words, assigned, mixtures = ours(texts, topics, seed, flags)
                else:
                    words, assigned, mixtures = PEERS[library](counts, names, topics, seed)
                name = " ".join([library, *flags]) if library == "gibbstream" else library
                cell = {"corpus": arguments.corpus, "first": arguments.first, "documents": len(texts)}
                cell |= {"topics": topics, "library": name, "seed": seed}
                cell["cpu_seconds"] = cpu_seconds() - before
                cell |= reference.coherence(words) | groups(labels, assigned, mixtures)
                cell["diversity"] = len({word for topic in words for word in topic}) / (TOP * topics)
                with arguments.results.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(cell) + "\n")
                print(json.dumps(cell), flush=True)
                if arguments.show:
                    print("\n".join(" ".join(topic) for topic in words), flush=True)


def check_gensim(arguments: argparse.Namespace) -> None:
    """Our two scores are those of gensim."""
    from gensim.corpora import Dictionary
    from gensim.models.coherencemodel import CoherenceModel

    texts, _ = corpus(arguments.corpus, 0, 2000)
    vectorizer = CountVectorizer(stop_words="english", min_df=5, max_df=0.5).fit(texts)
    reference, names = Reference(texts, vectorizer), vectorizer.get_feature_names_out()
    tokens = [[names[word] for word in document] for document in reference.documents]
    frequent = [word for word, _ in Counter(word for document in tokens for word in document).most_common(60)]
    topics = [frequent[start::6] for start in range(6)]
    found = reference.coherence(topics)
    for name, measure in (("npmi", "c_npmi"), ("c_v", "c_v")):
        theirs = CoherenceModel(topics=topics, texts=tokens, dictionary=Dictionary(tokens), coherence=measure, processes=1)
        print(f"{measure}: {found[name]:.6f} here, {theirs.get_coherence():.6f} by gensim")
        # gensim forgets a word that comes twice in a window too early, and leaves out texts without any of the words.
        assert abs(found[name] - theirs.get_coherence()) < 0.01


def write() -> None:
    """The page, with verdicts."""
    rows = {}
    for line in RESULTS.read_text(encoding="utf-8").splitlines():
        cell = json.loads(line)
        key = (cell["corpus"], cell["first"], cell["documents"], cell["topics"], cell["library"])
        rows.setdefault(key, {})[cell["seed"]] = cell
    measures = ["npmi", "npmi_strict", "c_v", "diversity", "nmi", "purity", "accuracy", "missing_words", "cpu_seconds"]
    mean = {
        key: {name: np.mean([cell[name] for cell in cells.values()]) for name in measures if name in next(iter(cells.values()))}
        for key, cells in rows.items()
    }
    text = [(HERE / "page.md").read_text(encoding="utf-8").rstrip(), ""]
    for name, first, documents, topics in sorted({key[:4] for key in rows}):
        chosen = "defaults were chosen here" if (name, first) in CHOSEN_ON else "not chosen on"
        span = f"{documents:,} documents" + (f" from {first:,} on" if first else "")
        text += [f"## {name}, {span}, {topics} topics ({chosen})", ""]
        names = ["seeds", "NPMI", "NPMI strict", "C_V", "diversity", "NMI", "purity", "accuracy", "words left out", "CPU s"]
        text += [f"| | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
        table = {key[4]: value for key, value in mean.items() if key[:4] == (name, first, documents, topics)}
        for library, value in table.items():
            shown = [f"{value[measure]:.3f}" if measure in value else "" for measure in measures[:-2]]
            seeds = len(rows[name, first, documents, topics, library])
            text.append(f"| {library} | {seeds} | {' | '.join(shown)} | {value['missing_words']:.0f} | {value['cpu_seconds']:.0f} |")
        text += ["", *verdicts(table), ""]
    PAGE.write_text("\n".join(text), encoding="utf-8")


def verdicts(table: dict[str, dict[str, float]]) -> list[str]:
    """Which goals are met."""
    own = table.get("gibbstream")
    if own is None:
        return []
    lines = []
    for peer, measure, least in [
        ("tomotopy", "npmi", 0.05),
        ("scikit-learn NMF", "npmi", -0.02),
        ("tomotopy", "nmi", 0.0),
        ("tomotopy", "purity", 0.0),
        ("scikit-learn NMF", "nmi", 0.0),
        ("scikit-learn NMF", "purity", 0.0),
    ]:
        if peer in table and measure in own and measure in table[peer]:
            difference = own[measure] - table[peer][measure]
            met = "met" if difference >= least else "**missed**"
            lines.append(f"* {measure.upper()} at least {least:+.2f} against {peer}: {difference:+.3f}, {met}.")
    return lines


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", default="reuters")
    parser.add_argument("--first", type=int, default=0, help="documents to pass over")
    parser.add_argument("--documents", type=int, help="documents to read after them")
    parser.add_argument("--flags", default="", help="other flags of gibbstream train")
    parser.add_argument("--results", type=Path, default=RESULTS, help="file to which cells are added")
    parser.add_argument("--topics", type=int, nargs="+", default=[20])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--libraries", nargs="+", default=["gibbstream", *PEERS])
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--check-gensim", action="store_true")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    if arguments.check_gensim:
        check_gensim(arguments)
    elif arguments.write:
        write()
    else:
        cells(arguments)


if __name__ == "__main__":
    main()
