// harness.cpp: lets dmlcheck run an implementation in C++17. Put it into `run` and its name into `hello`, then:
//   c++ -std=c++17 -O2 -o harness harness.cpp
//   dmlcheck run cases --implementation command:./harness
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

struct Unsupported : std::runtime_error { using runtime_error::runtime_error; };  // the case is skipped
struct Invalid : std::runtime_error { using runtime_error::runtime_error; };      // the desc is refused

// ---- JSON: a value of a request. Numbers that a double cannot hold come as texts.
struct Json {
    enum Kind { Null, Word, Text, List, Map } kind = Null;  // Word: a number, true or false
    std::string text;
    std::vector<std::pair<std::string, Json>> parts;  // of a List without names

    const Json& operator[](const std::string& name) const {  // Null where there is none
        static const Json none;
        for (const auto& part : parts) if (kind == Map && part.first == name) return part.second;
        return none;
    }
    explicit operator bool() const { return kind != Null; }
    double number() const { return std::strtod(text.c_str(), nullptr); }  // also of "inf", "-inf" and "nan"
    int64_t integer() const { return std::strtoll(text.c_str(), nullptr, 10); }
    std::vector<uint64_t> integers() const {
        std::vector<uint64_t> found;
        for (const auto& part : parts) found.push_back(std::strtoull(part.second.text.c_str(), nullptr, 10));
        return found;
    }
    std::vector<Json> list() const {  // a value that is no list is a list of one
        std::vector<Json> found(kind == List ? 0 : 1, *this);
        for (const auto& part : parts) if (kind == List) found.push_back(part.second);
        return found;
    }
};

class Reader {
    const std::string& line;
    size_t at = 0;
    char next() {
        while (at < line.size() && std::strchr(" \t\r\n", line[at])) ++at;
        return at < line.size() ? line[at] : throw std::runtime_error("the request is cut short");
    }
    bool took(char wanted) { return next() == wanted ? (++at, true) : false; }
    void take(char wanted) { if (!took(wanted)) throw std::runtime_error("the request is not JSON"); }
    unsigned long escape() { return std::stoul(line.substr((at += 4) - 4, 4), nullptr, 16); }  // the digits after \u
    std::string text() {
        std::string found;
        for (take('"'); at < line.size() && line[at] != '"';) {
            char letter = line[at++];
            if (letter != '\\' || at >= line.size()) { found += letter; continue; }
            letter = line[at++];
            const char* place = std::strchr("bfnrt", letter);
            if (letter != 'u') { found += place ? "\b\f\n\r\t"[place - "bfnrt"] : letter; continue; }
            unsigned long code = escape();
            if (code >= 0xD800 && code < 0xDC00 && line.compare(at, 2, "\\u") == 0)
                at += 2, code = 0x10000 + ((code - 0xD800) << 10) + (escape() - 0xDC00);
            int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;  // further bytes of UTF-8
            found += char(more == 0 ? code : (0xF00 >> (more + 1) & 0xFF) | code >> 6 * more);
            while (more--) found += char(0x80 | (code >> 6 * more & 0x3F));
        }
        return take('"'), found;
    }

public:
    explicit Reader(const std::string& line) : line(line) {}
    Json value(int depth = 0) {
        if (depth > 100) throw std::runtime_error("the request is nested too deeply");
        Json found;
        if (next() == '"') return found.kind = Json::Text, found.text = text(), found;
        if (char open = line[at]; open == '{' || open == '[') {
            const char close = open == '{' ? '}' : ']';
            found.kind = open == '{' ? Json::Map : Json::List;
            for (++at; !took(close); next() == close || (take(','), true)) {
                found.parts.emplace_back();
                if (open == '{') found.parts.back().first = text(), take(':');
                found.parts.back().second = value(depth + 1);
            }
            return found;
        }
        while (at < line.size() && !std::strchr(",]} \t\r\n", line[at])) found.text += line[at++];
        found.kind = found.text == "null" ? Json::Null : Json::Word;
        return found;
    }
};

std::string quoted(const std::string& text) {
    std::string found;
    for (char letter : text) {
        if (letter == '"' || letter == '\\') found += '\\';
        found += letter >= 0 && letter < ' ' ? ' ' : letter;
    }
    return '"' + found + '"';
}

// ---- tensors and .npy files
struct Tensor {
    std::string type;  // FLOAT32
    std::vector<uint64_t> sizes, strides;  // strides in elements, packed where the desc has none
    bool is_strided = false;
    std::vector<char> bytes;  // the buffer: an element is at offset(...)
    explicit Tensor(const Json& desc) : type(desc["DataType"].text), sizes(desc["Sizes"].integers()),
                                        strides(desc["Strides"].integers()), is_strided(desc["Strides"]) {
        if (!is_strided) strides.assign(sizes.size(), 1);
        if (sizes.empty() || strides.size() != sizes.size() || count() == 0) throw Invalid("Sizes or Strides");
        for (size_t axis = sizes.size(); !is_strided && --axis > 0;) strides[axis - 1] = strides[axis] * sizes[axis];
    }
    uint64_t count() const { uint64_t n = 1; for (uint64_t size : sizes) n *= size; return n; }
    uint64_t extent() const { return offset(count() - 1) + 1; }  // elements of the buffer
    uint64_t offset(uint64_t index) const {  // of an element, counted in row-major order
        uint64_t found = 0;
        for (size_t axis = sizes.size(); axis--; index /= sizes[axis]) found += index % sizes[axis] * strides[axis];
        return found;
    }
    template <class T> T& at(uint64_t index) { return reinterpret_cast<T*>(bytes.data())[offset(index)]; }
    std::string descr() const {  // NumPy's name of the type; 4-bit integers have a byte each
        const size_t digits = type.find_first_of("0123456789");
        const int size = digits == std::string::npos ? 0 : (std::atoi(type.c_str() + digits) + 7) / 8;
        if (size == 0) throw Unsupported("no type " + type);
        return (size == 1 ? "|" : "<") + std::string(1, char(std::tolower(type[0]))) + std::to_string(size);
    }
    void allocate() { bytes.assign(extent() * std::stoul(descr().substr(2)), 0); }
    void read(const std::string& path) {
        allocate();
        std::ifstream file(std::filesystem::u8path(path), std::ios::binary);
        unsigned char head[12] = {};
        file.read(reinterpret_cast<char*>(head), 8);
        const int wide = head[6] == 1 ? 2 : 4;  // bytes of the header's length, by the version of the format
        file.read(reinterpret_cast<char*>(head + 8), wide);
        const uint32_t length = head[8] | head[9] << 8 | uint32_t(head[10]) << 16 | uint32_t(head[11]) << 24;
        file.seekg(8 + wide + std::streamoff(length));  // dmlcheck writes the type and the sizes of the desc
        if (!file.read(bytes.data(), std::streamsize(bytes.size()))) throw std::runtime_error("cannot read " + path);
    }
    void write(const std::string& path) const {
        std::string shape, head = "{'descr': '" + descr() + "', 'fortran_order': False, 'shape': (";
        for (uint64_t size : is_strided ? std::vector<uint64_t>{extent()} : sizes) shape += std::to_string(size) + ",";
        head += shape + "), }";
        head.resize((head.size() + 10 + 64) / 64 * 64 - 10 - 1, ' ');
        head += '\n';
        std::ofstream file(std::filesystem::u8path(path), std::ios::binary);
        file << "\x93NUMPY\x01" << '\0' << char(head.size() & 0xFF) << char(head.size() >> 8) << head;
        file.write(bytes.data(), std::streamsize(bytes.size())).flush();
        if (!file) throw std::runtime_error("cannot write " + path);
    }
};

using Tensors = std::map<std::string, std::vector<Tensor>>;  // by field; one, or those of an array of tensors

// ---- yours
std::string hello() {  // add "validates": true if `run` throws Invalid for every desc that is not valid
    return R"({"name": "harness", "version": "1.0", "operators": ["ELEMENT_WISE_ADD1"], "types": ["FLOAT32"]})";
}

void run(const std::string& op, const Json& desc, Tensors& inputs, Tensors& outputs) {
    if (desc["FusedActivation"]) throw Unsupported("no fused activations");
    Tensor &a = inputs.at("ATensor").at(0), &b = inputs.at("BTensor").at(0), &out = outputs.at("OutputTensor").at(0);
    if (a.sizes != out.sizes || b.sizes != out.sizes) throw Invalid(op + " needs tensors of equal sizes");
    for (uint64_t i = 0; i < out.count(); ++i) out.at<float>(i) = a.at<float>(i) + b.at<float>(i);
}

// ---- a line for each request
std::string answer(const Json& request) {
    const Json &desc = request["desc"], &paths = request["outputs"];
    Tensors inputs, outputs;
    for (const auto& [name, given] : request["inputs"].parts) {
        const std::vector<Json> files = given.list(), descs = desc[name].list();
        for (size_t i = 0; i < files.size(); ++i) inputs[name].emplace_back(descs.at(i)).read(files[i].text);
    }
    for (const auto& [name, given] : paths.parts)
        for (const Json& part : desc[name].list()) if (part) outputs[name].emplace_back(part).allocate();
    run(request["operator"].text, desc, inputs, outputs);
    for (const auto& [name, given] : paths.parts)
        for (size_t i = 0; i < outputs[name].size(); ++i) outputs[name][i].write(given.list().at(i).text);
    return "\"ok\": true";
}

int main() {
    for (std::string line, said; std::getline(std::cin, line); std::cout << said << std::endl) {
        std::string id = "0";
        try {
            const Json request = Reader(line).value();
            if (request["request"].text == "hello") { said = hello(); continue; }
            id = std::to_string(request["id"].integer());
            said = answer(request);
        } catch (const Unsupported& reason) { said = "\"unsupported\": " + quoted(reason.what());
        } catch (const Invalid& reason) { said = "\"invalid\": " + quoted(reason.what());
        } catch (const std::exception& error) { said = "\"error\": " + quoted(error.what()); }
        said = "{\"id\": " + id + ", " + said + "}";
    }
}
